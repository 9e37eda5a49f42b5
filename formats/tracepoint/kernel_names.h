/* kernel_names.h - numbers of enums of the kernel that print formats name. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes a release, as "6.18.44-cloud": 6018. 0: it has no version. */
uint32_t kernel_release_number(const char *text);
/* Sets *out to the number of the name of n bytes in that release. Returns false
 * if it is not known there; 0 is an unknown release. */
bool kernel_name_value(const char *name, size_t n, uint32_t release,
		       int64_t *out);
