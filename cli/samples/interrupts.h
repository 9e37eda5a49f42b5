/* interrupts.h - which functions of the kernel an interrupt enters by. */
#pragma once
#include <stdbool.h>

/* Returns whether a function of the kernel is called by an interrupt only, so
 * that what it calls is not the work of the thread that was interrupted. */
bool interrupts_enter(const char *name);
