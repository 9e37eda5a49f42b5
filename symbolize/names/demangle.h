/* demangle.h - demangles C++, Rust and D names, up to a limit. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Writes the readable form of a C++, Rust or D name into buf, cut to size: a
 * mangled name of 235 bytes can expand to 277 MB. Returns false, and leaves buf
 * as it is, if the name is not mangled. */
bool demangle_name(const char *name, char *buf, size_t size);
