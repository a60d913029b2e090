#pragma once
// Index kinds are types: a GpuId does not convert to a NicId. A Table owns its rows; everybody else
// holds ids, never pointers to rows.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace railyard {

template <class Tag>
struct Id {
  std::uint32_t index = 0;
  friend constexpr auto operator<=>(Id, Id) = default;
};

template <class Key, class T>
class Table {
 public:
  Key add(T row) {
    rows_.push_back(std::move(row));
    return {static_cast<std::uint32_t>(rows_.size() - 1)};
  }
  const T& operator[](Key k) const { return rows_[k.index]; }
  T& operator[](Key k) { return rows_[k.index]; }
  std::size_t size() const { return rows_.size(); }
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }

 private:
  std::vector<T> rows_;
};

}  // namespace railyard
