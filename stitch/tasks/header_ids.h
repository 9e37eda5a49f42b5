/* header_ids.h - the build-ids that a recorder read from the paths of images,
 * in the table of a capture.
 *
 * They belong to the files that existed when the recording ended. There is one
 * for each path or, with perf 6.1, one for each file. So an image gets none if
 * the capture has mapped several files from its path. In a stream, only the
 * files mapped before the image are known. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct header_ids;
struct image;
struct source;

/* Returns the time, on the clock of the records, at which the file of an image
 * was written during the recording; 0: it was not, or it is not known. */
typedef uint64_t header_written_fn(void *arg, const struct image *img);

/* written may be NULL. */
struct header_ids *header_ids_new(header_written_fn *written, void *arg);
/* Sets an image's build-id from the table of the capture, by its path, and
 * whether the path has several files, and whether its file was written
 * since. */
void header_ids_set(struct header_ids *ids, const struct source *src,
		    bool kernel, struct image *img);
void header_ids_free(struct header_ids *ids); /* NULL is fine */
/* Sets the build-id of an image. */
void image_set_id(struct image *img, const uint8_t *id, size_t len);
