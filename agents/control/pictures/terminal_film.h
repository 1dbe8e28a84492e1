// A film drawn with Braille dots.
#pragma once

#include <cstdio>

#include <stein/agents/control/pictures/film.h>

namespace stein::agents {

/// At its own pace on a terminal, else about three of its frames, from the first on.
void show_in_terminal(const Film& film, std::FILE* stream);

}  // namespace stein::agents
