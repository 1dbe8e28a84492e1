// The words of captions of scenes and what they mean, written down again beside the product's own table.
#pragma once

#include <map>
#include <string>

namespace stein::lm {

/// Every adjective and singular noun with the property that it means.
inline const std::map<std::string, int> sizes{{"small", 0}, {"little", 0}, {"tiny", 0},
                                              {"big", 1},   {"large", 1},  {"huge", 1}};
inline const std::map<std::string, int> colours{
    {"red", 0},    {"crimson", 0}, {"scarlet", 0}, {"green", 1},  {"jade", 1},  {"blue", 2}, {"cobalt", 2},
    {"yellow", 3}, {"golden", 3},  {"purple", 4},  {"violet", 4}, {"white", 5}, {"snowy", 5}};
inline const std::map<std::string, int> nouns{{"circle", 0},   {"disc", 0},  {"square", 1}, {"box", 1},
                                              {"triangle", 2}, {"wedge", 2}, {"cross", 3},  {"plus", 3},
                                              {"shape", -1},   {"thing", -1}};
inline const std::map<std::string, int> plurals{{"circles", 0},   {"discs", 0},  {"squares", 1}, {"boxes", 1},
                                                {"triangles", 2}, {"wedges", 2}, {"crosses", 3}, {"pluses", 3},
                                                {"shapes", -1},   {"things", -1}};
/// 0 left, 1 right, 2 above, 3 below.
inline const std::map<std::string, int> sides{
    {"on the left", 0}, {"in the left half", 0},  {"on the right", 1},  {"in the right half", 1},
    {"at the top", 2},  {"in the upper half", 2}, {"at the bottom", 3}, {"in the lower half", 3}};
inline const std::map<std::string, int> relations{
    {"left of", 0}, {"to the left of", 0}, {"right of", 1}, {"to the right of", 1}, {"above", 2},
    {"over", 2},    {"higher than", 2},    {"below", 3},    {"under", 3},           {"lower than", 3}};

}  // namespace stein::lm
