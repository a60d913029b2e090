// Rules for models: the dimensions must give the number of parameters that the authors print.

#include <cmath>

#include "model/catalog/findings.h"

namespace railyard::model::catalog {

namespace {

// Authors count differently (with or without embeddings, biases) and print two or three digits.
constexpr double kParameters = 0.03;

}  // namespace

void check_models(const Catalog& catalog, Findings& out) {
  for (const Architecture& a : catalog.architectures) {
    if (a.stated_parameters == 0) continue;
    out.count();
    const double counted = count_parameters(a).total;
    const double off = counted / a.stated_parameters - 1;
    if (std::abs(off) <= kParameters) continue;
    const std::string ours = show_number(counted / 1e9, 4) + " B",
                      theirs = show_number(a.stated_parameters / 1e9, 4) + " B";
    out.add({a.id, "stated_parameters", "the dimensions do not give the stated parameters"},
            {.sum = ours + " counted, " + theirs + " stated, " + show_percent(off) + " off",
             .expected = ours,
             .found = theirs});
  }
}

}  // namespace railyard::model::catalog
