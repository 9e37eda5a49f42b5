/* unnamed.h - what naming has to do: the frames without a name, image by image,
 * in the order in which they are named. Inside schema/ only. */
#ifndef SCHEMA_WRITE_UNNAMED_H
#define SCHEMA_WRITE_UNNAMED_H
#include <stddef.h>
#include <stdint.h>

#include "stitch/symbol.h"

struct arena;
struct err;
struct image;
struct store;

/* One frame; several of an image may have one offset. */
struct todo {
	uint32_t frame;
	uint32_t at; /* place in the image's code[] */
};

/* One image: parts of the arrays below. */
struct unnamed_image {
	uint32_t image;
	struct code_place *code; /* by off, unique */
	struct todo *todo;	 /* in the order of code[] */
	size_t n_code, n_todo;
};

struct unnamed {
	struct code_place *code;
	size_t n_code, cap_code;
	struct todo *todo;
	size_t n_todo, cap_todo;
	struct unnamed_image *image;
	size_t n_image, cap_image;
};

/* how: see store_unnamed(). */
int unnamed_load(struct store *db, unsigned int how, struct unnamed *u,
		 struct err *err);
void unnamed_release(struct unnamed *u);

/* An image as resolvers want it, but for the code of jitted ones; the path is
 * in text. */
int unnamed_describe(struct store *db, uint32_t image, struct arena *text,
		     struct image *img, struct err *err);
#endif
