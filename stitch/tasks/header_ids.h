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

/* Returns the time, as of records, at which the file of an image was written
 * while it was recorded; 0: it was not, or nothing is known. */
typedef uint64_t header_written_fn(void *arg, const struct image *img);

/* written may be NULL. */
struct header_ids *header_ids_new(header_written_fn *written, void *arg);
/* Sets the build-id that the capture has for the path of an image that was
 * mapped, whether it has several files there, and whether the file was written
 * since. */
void header_ids_set(struct header_ids *ids, const struct source *src,
		    bool kernel, struct image *img);
void header_ids_free(struct header_ids *ids); /* NULL is fine */
/* Sets the build-id of an image. */
void image_set_id(struct image *img, const uint8_t *id, size_t len);
