/* Random numbers for programs that draw what they call. C99. */
#ifndef DRAWS_H
#define DRAWS_H

#include <stdint.h>

static uint64_t state;
static uint64_t draw(void) { /* splitmix64 */
  state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = state;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}
static int one_of(int n) { return (int)(draw() % (uint64_t)n); }

#endif
