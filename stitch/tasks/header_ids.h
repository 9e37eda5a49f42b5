/* header_ids.h - the build-ids that a recorder read from the paths of images,
 * in the table of a capture.
 *
 * They are of the files that were there when the recording ended, and there is
 * one for each path, or, of perf 6.1, one for each file. So an image gets none
 * if the capture has mapped several files from its path. Of a stream only those
 * before it are known. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct header_ids;
struct image;
struct source;

/* Sets the build-id that the capture has for the image's path, and whether it
 * has several files there. Makes *ids if it is NULL. */
void header_ids_set(struct header_ids **ids, const struct source *src,
		    bool kernel, struct image *img);
void header_ids_free(struct header_ids *ids); /* NULL is fine */
/* Sets the build-id of an image. */
void image_set_id(struct image *img, const uint8_t *id, size_t len);
