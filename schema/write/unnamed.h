/* unnamed.h - the frames that have no name, image by image, in the order in
 * which they are named. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "schema/write/mapped_code.h"
#include "stitch/symbol.h"

struct arena;
struct image;

/* A frame; several frames of an image may have the same offset. */
struct todo {
	uint32_t frame;
	uint32_t at; /* place in the image's code[] */
};

/* An image; code and todo point into the arrays of struct unnamed. */
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
	struct mapped_parts parts;
	bool first; /* rows of these frames have nothing that naming sets */
};

/* Fills *u, for unnamed_release(). how: see store_unnamed(). Returns 0, or -1
 * and *err. */
int unnamed_load(struct maker *mk, unsigned int how, struct unnamed *u,
		 struct err *err);
void unnamed_release(struct unnamed *u);

/* Fills *img for the resolvers, without the code of jitted images. Its path is
 * in text, its parts are of u. Returns 0, or -1 and *err. */
int unnamed_describe(struct maker *mk, const struct unnamed *u, uint32_t image,
		     struct arena *text, struct image *img, struct err *err);
