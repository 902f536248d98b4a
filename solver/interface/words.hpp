// Options by name, as a host has set them: texts that the table of options reads. Local.
#pragma once

#include <staghorn.h>

#include <map>
#include <string>

#include "solver/request/option_table.hpp"

namespace staghorn {

// What options are given to. A context takes those of a session, which its gauges and solves begin with; a gauge those
// of its operator and numbers; a call those of a solve and numbers. The fields b of a call stand for some of a solve,
// the shifts for others: `sources` takes these too.
enum class OptionsOf { context, gauge, call, sources };

// The texts behind a handle; none behind NULL.
std::map<std::string, std::string> texts_of(const staghorn_words* words);
// "a = 1, b = 2" of a message or of what ranks ask alike; "nothing".
std::string in_one_line(const std::map<std::string, std::string>& texts);
// Sets them all. Throws Error for one that belongs elsewhere, which it names.
void set_texts(SolveOptions& options, const std::map<std::string, std::string>& texts, OptionsOf whose);

}  // namespace staghorn
