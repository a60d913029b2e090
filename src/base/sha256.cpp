#include "base/sha256.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace railyard {

namespace {

using Word = std::uint32_t;

/// The first 32 fraction bits of a root of `n`. The standard derives its constants from roots of
/// the first primes; a double keeps 52 bits, enough for 32 of them behind at most five integer
/// bits.
Word fraction_bits(double root) { return static_cast<Word>((root - std::floor(root)) * 0x1p32); }

struct Constants {
  std::array<Word, 64> round{};  ///< cube roots of the first 64 primes
  std::array<Word, 8> start{};   ///< square roots of the first 8
};

Constants derive_constants() {
  Constants out;
  std::size_t found = 0;
  for (int n = 2; found < out.round.size(); ++n) {
    bool prime = true;
    for (int d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
    if (!prime) continue;
    out.round[found] = fraction_bits(std::cbrt(n));
    if (found < out.start.size()) out.start[found] = fraction_bits(std::sqrt(n));
    ++found;
  }
  return out;
}

void mix_block(const unsigned char* block, const std::array<Word, 64>& k,
               std::array<Word, 8>& state) {
  std::array<Word, 64> w{};
  for (std::size_t i = 0; i < 16; ++i)
    w[i] = Word{block[4 * i]} << 24 | Word{block[4 * i + 1]} << 16 | Word{block[4 * i + 2]} << 8 |
           Word{block[4 * i + 3]};
  for (std::size_t i = 16; i < 64; ++i) {
    const Word s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const Word s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const Word sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const Word choose = (e & f) ^ (~e & g);
    const Word t1 = h + sum1 + choose + k[i] + w[i];
    const Word sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const Word majority = (a & b) ^ (a & c) ^ (b & c);
    h = g, g = f, f = e, e = d + t1;
    d = c, c = b, b = a, a = t1 + sum0 + majority;
  }
  const std::array<Word, 8> add{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state[i] += add[i];
}

}  // namespace

std::string sha256(std::string_view bytes) {
  const Constants constants = derive_constants();
  std::array<Word, 8> state = constants.start;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t done = 0;
  for (; done + 64 <= bytes.size(); done += 64) mix_block(data + done, constants.round, state);

  // The tail: the rest, one bit, zeros, and the length in bits as a big-endian 64-bit number.
  std::string tail(bytes.substr(done));
  tail += '\x80';
  while (tail.size() % 64 != 56) tail += '\0';
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) tail += static_cast<char>(bits >> shift & 0xff);
  const auto* rest = reinterpret_cast<const unsigned char*>(tail.data());
  for (std::size_t i = 0; i < tail.size(); i += 64) mix_block(rest + i, constants.round, state);

  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const Word word : state)
    for (int shift = 28; shift >= 0; shift -= 4) out += kHex[word >> shift & 15];
  return out;
}

}  // namespace railyard
