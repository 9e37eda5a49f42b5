/* symbol_names.h - reads the names of all functions of a program, and of its
 * data. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct image;
struct symbolizer;

/* Receives the demangled name of a variable, and the offset of the place in it;
 * borrowed until the function returns. Returns 0, or -1 and *err. */
typedef int data_names_fn(void *arg, uint64_t off, const char *name,
			  uint64_t inside, struct err *err);
/* Calls fn for each of n places that is in a writable variable with a symbol.
 * off: offsets of the places from the start of the file as its code is mapped.
 * If the file is not proved to be the one that was mapped, no place has a name.
 * Returns 0, or -1 and *err of fn. */
int data_names_each(struct symbolizer *sy, const struct image *img,
		    const uint64_t *off, size_t n, data_names_fn *fn, void *arg,
		    struct err *err);

/* Calls fn for each function symbol of an image's file, raw and demangled, and
 * of its debug file if the file was stripped; names may come twice. Returns
 * whether these are all functions that were compiled: the file is proved by its
 * build-id, and its table has local symbols, which 'strip --discard-all'
 * removes and the start-up code of each program has. */
typedef void function_names_fn(void *arg, const char *name);
bool function_names_each(struct symbolizer *sy, const struct image *img,
			 function_names_fn *fn, void *arg);
