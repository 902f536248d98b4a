// How far each search within a solve goes: the shares of targets and residuals that are aimed at. One place for all.
#pragma once

namespace staghorn {

// A pass aims a little lower than the tolerance, so that rounding does not cost a second pass.
constexpr double aim_of_pass = 0.999;
// The pass after one that began close to the tolerance and missed it.
constexpr double aim_after_a_miss = 0.25;
// A pass for Fermilab's residual aims lower, as that does not fall quite as the usual one.
constexpr double aim_hq = 0.5;
// A pass that does not halve the true residual will not be followed by one that does.
constexpr double least_gain_of_pass = 0.5;

// Where sloppy iterations stop: slightly below the target, since the sloppy residual is not quite the true one.
constexpr double sloppy_aim(double target_norm) { return 0.95 * target_norm; }
// Updates that leave more than this share of the residual gain nothing.
constexpr double largest_share_left = 0.9;
// Of a tile: the sloppy loop itself stops at this share of the residual that asks for an update.
constexpr double least_share_of_update = 0.1;
// Of a block: its residual is computed anew once it has fallen by this factor.
constexpr double fall_of_block = 0.3;

}  // namespace staghorn
