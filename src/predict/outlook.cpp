#include "predict/outlook.h"

#include "base/measure.h"

namespace railyard::predict {

namespace {

std::vector<std::string> notes_of(const model::Cluster& cluster, const Outlook& o) {
  std::vector<std::string> notes;
  if (o.job.origin) notes = o.job.origin->notes;
  if (o.accelerators < cluster.accelerators())
    notes.push_back("the job uses " + std::to_string(o.accelerators) + " of " +
                    std::to_string(cluster.accelerators()) + " accelerators");
  if (!o.machine.uniform)
    notes.push_back(
        "islands of a server differ: groups count on what all have, scale-up domains of " +
        std::to_string(o.machine.smallest_domain) + " instead of " +
        std::to_string(o.machine.domain));
  if (o.machine.gpu.peak_of(o.job.precision) <= FlopRate{})
    notes.push_back(o.machine.gpu.id + " has no arithmetic for " +
                    std::string(model::name(o.job.precision)) + ": priced at its " +
                    show(o.pieces.device.peak) +
                    (o.pieces.device.quantised ? " in fp8" : " at 16 bit"));
  const model::Reliability& r = o.job.reliability;
  const bool given = r.checkpoint_save > Seconds{} || r.restart > Seconds{};
  if (given && !o.goodput)
    notes.push_back(
        "no goodput: reliability has neither accelerator_mtbf nor a save with its "
        "checkpoint_interval");
  if (o.fit.host_need > Bytes{} && o.fit.host_capacity <= Bytes{} && !o.fit.tier_is_missing)
    notes.push_back(
        show(o.fit.host_need) +
        " a server are offloaded; the cluster does not say how much memory its hosts have");
  return notes;
}

}  // namespace

Outlook outlook(const model::Cluster& cluster, const model::Job& job,
                const Calibration& calibration) {
  Outlook out{
      .job = job, .machine = fabric::summarise(cluster), .accelerators = job.accelerators()};
  const StepModel model(out.machine, calibration);
  out.prediction = model.predict(job, out.pieces);
  out.bottlenecks = bottlenecks(job, model, out.prediction, out.pieces);
  out.fit = check_fit(job, out.machine, out.prediction.memory);
  if (!out.fit.fits()) out.advice = fit_advice(job, model);
  out.goodput = goodput(job.reliability, out.accelerators);
  out.energy = energy(cluster, out.prediction, out.accelerators);
  out.rent_per_hour = static_cast<double>(out.accelerators) * cluster.price_per_gpu_hour;
  if (job.trained_tokens > 0)
    out.whole_run = Seconds::si(job.trained_tokens / out.prediction.tokens_per_second) /
                    (out.goodput ? out.goodput->useful : 1.0);
  out.notes = notes_of(cluster, out);
  return out;
}

}  // namespace railyard::predict
