// Where tuned launches are remembered from run to run: a text file in the user's cache folder, with a line for each
// choice:
//
//   hop fp64 18 rhs 8 local 32x32x32x64 cut t NVIDIA H200 sm_90 with 132 processors = 4 2        (tile, waves)
//
// Lines are only ever added, each in one write, so that several runs may add at once. The last line of a kernel counts.
// Lines that cannot be read are passed over. The file's name contains a version, which changes when the kernels change
// so much that old choices would mislead. All functions are local.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "dirac/kernels/kernel_table.hpp"

namespace staghorn {

using KnownLaunches = std::map<std::string, LaunchChoice>;  // by launch_key

// Returns everything on which a choice for `kernel` ("hop", "residual", "direction") depends, as text. `device` names
// the GPU.
std::string launch_key(const std::string& kernel, const HopView& view, const std::string& device);

// The line of a choice, with its end; and the choices that lines state.
std::string launch_line(const std::string& key, const LaunchChoice& choice);
KnownLaunches parse_launches(const std::string& text);

// The file: launches-v3.txt in the folder staghorn of XDG_CACHE_HOME, else of HOME/.cache. Empty if neither is an
// absolute path.
std::filesystem::path launch_file();
// Returns the choices of a file; none if there is no such file.
KnownLaunches read_launches(const std::filesystem::path& file);
// Adds lines in one write, and makes the folders. Returns why that was not possible; "" if it was.
std::string append_launches(const std::filesystem::path& file, const std::string& lines);

}  // namespace staghorn
