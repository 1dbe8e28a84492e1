// Features by name in a fixed number of columns: feature hashing.
#pragma once

#include <stein/replay/column_use.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace stein::replay {

/// The hash of a name that stands within another one, such as a feature within its namespace; 0 stands for no outer
/// name. The same on every machine (XXH3, whose values no longer change).
std::uint64_t hash_name(std::string_view name, std::uint64_t outer = 0);

/// Adds a feature's `value`, with the sign that its hash says, to the column that its hash says (Weinberger, Dasgupta,
/// Langford, Smola & Attenberg 2009, "Feature hashing for large scale multitask learning", definition 1):
///   φ_i(x) = Σ over features j with h(j) = i of ξ(j) x_j
/// With random signs ξ the inner product of two hashed vectors is that of the vectors themselves in expectation. Where
/// there are no columns it does nothing. `use` has as many columns.
void add_hashed(std::uint64_t feature, float value, std::span<float> columns, ColumnUse& use);

/// Which of so many buckets a category is in: for one-hot columns, without a sign. `buckets` is at least 1.
std::size_t bucket_of(std::uint64_t category, std::size_t buckets);

}  // namespace stein::replay
