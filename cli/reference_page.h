// docs/reference.md: every name that `stein list` knows, with every option.
#pragma once

#include <string>

namespace stein::cli {

/// The whole page in Markdown, from the registries and the `describe` of every part.
std::string make_reference_page();

}  // namespace stein::cli
