// English words that the rules of coco_words know, in lower case.
#pragma once

#include <array>
#include <string_view>

namespace stein::lm::ptb {

/// Titles, months, days, states, companies, streets.
inline constexpr auto abbreviations = std::to_array<std::u32string_view>(
    {U"mr",    U"mrs",   U"ms",   U"dr",   U"drs",   U"prof",   U"profs", U"st",   U"jr",   U"sr",   U"gov",  U"govs",
     U"gen",   U"col",   U"capt", U"lt",   U"lieut", U"sgt",    U"cpl",   U"pvt",  U"brig", U"maj",  U"adm",  U"cmdr",
     U"comdr", U"rep",   U"reps", U"sen",  U"sens",  U"rev",    U"hon",   U"pres", U"supt", U"insp", U"det",  U"treas",
     U"atty",  U"attys", U"esq",  U"mme",  U"mlle",  U"messrs", U"ph.d",  U"jan",  U"feb",  U"mar",  U"apr",  U"jun",
     U"jul",   U"aug",   U"sep",  U"sept", U"oct",   U"nov",    U"dec",   U"mon",  U"tue",  U"tues", U"wed",  U"thu",
     U"thurs", U"fri",   U"ala",  U"ariz", U"calif", U"colo",   U"conn",  U"ct",   U"dak",  U"fla",  U"ga",   U"ind",
     U"kan",   U"kans",  U"ky",   U"md",   U"mich",  U"minn",   U"mo",    U"mont", U"neb",  U"nev",  U"okla", U"penn",
     U"tenn",  U"va",    U"vt",   U"wis",  U"wisc",  U"wyo",    U"inc",   U"corp", U"co",   U"cos",  U"ltd",  U"bros",
     U"plc",   U"pty",   U"mfg",  U"assn", U"assoc", U"natl",   U"intl",  U"univ", U"dept", U"ave",  U"blvd", U"rd",
     U"mt",    U"ft",    U"sq",   U"ste",  U"bldg",  U"est",    U"elec",  U"vs",   U"etc",  U"al",   U"cf"});

/// States that are words too: abbreviations if they begin with a capital.
inline constexpr auto abbreviations_with_capital = std::to_array<std::u32string_view>(
    {U"ark", U"del", U"ill", U"la", U"mass", U"miss", U"ore", U"pa", U"tex", U"wash"});

/// Abbreviations if a number follows.
inline constexpr auto abbreviations_before_number =
    std::to_array<std::u32string_view>({U"no", U"nos", U"fig", U"figs", U"art", U"pp", U"op", U"ca"});

/// Words that begin a sentence: a single letter before one of them has ended a sentence with its dot.
inline constexpr auto sentence_starts = std::to_array<std::u32string_view>(
    {U"a",     U"an",   U"as",    U"at",    U"but",   U"he",   U"her", U"here", U"if",   U"in",
     U"it",    U"many", U"now",   U"one",   U"other", U"she",  U"so",  U"some", U"that", U"the",
     U"their", U"then", U"there", U"these", U"they",  U"this", U"we",  U"what", U"when", U"you"});

/// What a contraction ends with.
inline constexpr auto clitics =
    std::to_array<std::u32string_view>({U"'s", U"'m", U"'d", U"'ll", U"'re", U"'ve", U"n't"});

/// Words that an apostrophe does not cut.
inline constexpr auto elisions = std::to_array<std::u32string_view>(
    {U"'em", U"'til", U"'till", U"'cause", U"'n", U"ma'am", U"c'mon", U"e'er", U"ne'er", U"ta'en"});

}  // namespace stein::lm::ptb
