/* Checks of a program of the tests: what does not hold is printed and counted. C99. */
#ifndef CHECKS_H
#define CHECKS_H

#include <staghorn.h>
#include <stdio.h>

static int failures;
#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      printf("%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, staghorn_last_error()); \
      ++failures;                                                                        \
    }                                                                                    \
  } while (0)

#endif
