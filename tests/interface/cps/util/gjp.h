// CPS has this name.
#include "../fake_cps.hpp"
