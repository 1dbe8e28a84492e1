// What every rank gives comes to all of them, or what went wrong on one: a single message for both.
#pragma once

#include <stein/distributed/agree.h>
#include <stein/distributed/communicator.h>
#include <stein/distributed/shared_work.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stein::distributed {

/// Collective. Writes to `all`, on every rank, what each gave, by rank, and adds to `ranks.sharing()` what that took.
/// So nothing that may fail on one rank alone need be agreed on before ranks exchange what it left.
/// @param own    what went wrong on this rank since the last exchange; then `bytes` do not matter
/// @param bytes  are of no use afterwards
/// @throws AgreedError on every rank, that of the lowest place and of these of the lowest rank, if anything went wrong
/// on any
void exchange(Communicator& ranks, const std::optional<Failure>& own, std::string& bytes,
              std::vector<std::string>& all);

/// Collective. Brings what parts left, of which each rank has done those of `parts_of`, to all ranks.
/// @param own    as above
/// @param write  appends what a part left to a message
/// @param read   takes it off the front of a message on a rank that has not done the part
/// @throws AgreedError as above
void exchange_parts(Communicator& ranks, std::int64_t count, const std::optional<Failure>& own,
                    const std::function<void(std::int64_t part, std::string& message)>& write,
                    const std::function<void(std::int64_t part, std::string_view& message)>& read);

}  // namespace stein::distributed
