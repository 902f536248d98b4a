// Where tuned launches are remembered from run to run: a text file in the user's cache folder, a line for each choice,
//
//   hop fp64 18 rhs 8 local 32x32x32x64 cut t NVIDIA H200 sm_90 with 132 processors = 4 2        (tile, waves)
//
// to which lines are only ever added, several runs at once as well: one write a time, the last line of a kernel counts.
// Lines that cannot be read are passed over. The file's name has the version of all this, and changes when the kernels
// do so much that old choices mislead. All local.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "dirac/kernels/kernel_table.hpp"

namespace staghorn {

using KnownLaunches = std::map<std::string, LaunchChoice>;  // by launch_key

// All that a choice for `kernel` ("hop", "residual", "direction") depends on; `device` names the GPU.
std::string launch_key(const std::string& kernel, const HopView& view, const std::string& device);

// The line of a choice, with its end; and what lines say.
std::string launch_line(const std::string& key, const LaunchChoice& choice);
KnownLaunches parse_launches(const std::string& text);

// launches-v2.txt in the folder staghorn of XDG_CACHE_HOME, else of HOME/.cache; empty where neither is an absolute
// path.
std::filesystem::path launch_file();
// Nothing where there is no such file.
KnownLaunches read_launches(const std::filesystem::path& file);
// Adds lines in one write; makes the folders. Returns why that was not possible, "" if it was.
std::string append_launches(const std::filesystem::path& file, const std::string& lines);

}  // namespace staghorn
