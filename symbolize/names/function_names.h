/* function_names.h - the names of all functions of a program. */
#pragma once
#include <stdbool.h>

struct image;
struct symbolizer;

/* Calls fn for each function symbol of an image's file, as it is and demangled,
 * and of its debug file if the file was stripped; names may come twice. Returns
 * whether these are all functions that were compiled: the file is proved by its
 * build-id, and its table has local symbols, which 'strip --discard-all'
 * removes and the start-up code of each program has. */
typedef void function_names_fn(void *arg, const char *name);
bool function_names_each(struct symbolizer *sy, const struct image *img,
			 function_names_fn *fn, void *arg);
