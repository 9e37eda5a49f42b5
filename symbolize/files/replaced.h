/* replaced.h - whether the file at the path of an image is the one that was
 * mapped, where its build-id does not tell. */
#ifndef SYMBOLIZE_FILES_REPLACED_H
#define SYMBOLIZE_FILES_REPLACED_H
#include <stdbool.h>

struct image;
struct symbolizer;

enum replaced {
	REPLACED_NOT,	/* nothing says so */
	REPLACED_MAYBE, /* it is another file, perhaps with the same content */
	REPLACED_YES,	/* it took the place of the mapped file while that was
			 * recorded or, without a build-id, later */
};

/* Returns whether the path leads to another file than the recorded inode, on
 * the machine of the recording. */
bool replaced_inode(const struct symbolizer *sy, const struct image *img);
/* Returns whether the path still leads to the file that was mapped, on the
 * machine of the recording: to the recorded inode, unchanged since before the
 * recording began. */
bool replaced_none(const struct symbolizer *sy, const struct image *img);
/* Judges the file at the path of an image, whether or not files are looked for
 * there. */
enum replaced replaced_judge(const struct symbolizer *sy,
			     const struct image *img);
/* Returns the image as files are searched for: without the build-id if that is
 * of the file that replaced the mapped one. Strings are the same. */
struct image replaced_image(const struct symbolizer *sy,
			    const struct image *img);
#endif
