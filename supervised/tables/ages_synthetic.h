// Features of made-up faces in eight classes of age, of which some are rare.
#pragma once

#include <stein/supervised/tables/table_set.h>

#include <cstdint>

namespace stein::supervised {

/// In place of features of photographs: 512 numbers x0 … x511 a row and a class from "0-2" to "60-", drawn with the
/// shares 14, 12, 12, 10, 28, 14, 5 and 5 %. The class c has ages t ~ N(c, 0.6²), feature j is cos(w_j t + u_j) + N(0,
/// 1) with w_j ~ N(0, 0.5²) and u_j uniform on (0, 2π): neighbouring classes are taken for each other. The same seed,
/// the same table. Throws Error(usage) unless there are at least 20 rows.
TableSet make_ages(std::int64_t rows, std::uint64_t seed);

}  // namespace stein::supervised
