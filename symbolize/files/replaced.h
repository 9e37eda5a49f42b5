/* replaced.h - whether the file at the path of an image is the one that was
 * mapped, where its build-id does not tell. */
#ifndef SYMBOLIZE_FILES_REPLACED_H
#define SYMBOLIZE_FILES_REPLACED_H
#include <stdbool.h>

struct image;
struct symbolizer;

enum replaced {
	REPLACED_NONE,	/* it is the mapped file, and unchanged since before
			 * the recording began */
	REPLACED_NOT,	/* nothing says that it is another one */
	REPLACED_MAYBE, /* it is another file, perhaps with the same content */
	REPLACED_YES,	/* it took the place of the mapped file while that was
			 * recorded or, without a build-id, later */
};

/* Returns whether the path leads to another file than the recorded inode and
 * device, on the machine of the recording. */
bool replaced_inode(const struct symbolizer *sy, const struct image *img);
/* Judges the file at the path of an image, whether or not files are looked for
 * there; without the machine of the recording, REPLACED_NOT. */
enum replaced replaced_judge(const struct symbolizer *sy,
			     const struct image *img);
/* Returns the image, judged as told, as files are searched for: without the
 * build-id if that is of the file that replaced the mapped one. Strings are the
 * same. */
struct image replaced_image(const struct image *img, enum replaced judged);
#endif
