/* replaced.c - whether the file at the path of an image is the one that was
 * mapped, where its build-id does not tell.
 *
 * The kernel can write the build-id of a mapping into its record, which then
 * has no inode. Otherwise perf, in all versions, reads build-ids when the
 * recording ends, from the files that are then at the recorded paths: those of
 * a program that was built anew meanwhile are of the new one. The inode in the
 * record is of the mapped file, but differs between copies of a file. It tells
 * something only on the machine of the recording; and a file is called another
 * one only if it was made, or put at its path, on the same device, while the
 * recorder wrote the capture. Who installs the same file again later changes
 * the inode as well, but not what its build-id proves. In a mount namespace, as
 * of a container, the path leads to another file, often on another device; perf
 * reads the build-id of the one that has the path outside once the namespace is
 * gone, and that may be a copy or any other program. */
#include "symbolize/files/replaced.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stitch/tasks/frame.h"
#include "symbolize/symbolizer.h"

static int64_t replaced_ns(const struct statx_timestamp *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

/* An inode number is soon used again by some file systems, with another
 * generation. 0: not recorded, as in what perf takes from /proc. */
static bool replaced_generation(const struct image *img)
{
	/* the kernel writes 32 bits, in spite of the type of the request */
	long gen = 0;
	int fd = img->ino_gen ? open(img->path, O_RDONLY | O_NONBLOCK |
							O_CLOEXEC | O_NOCTTY)
			      : -1;
	bool other = fd >= 0 && !ioctl(fd, FS_IOC_GETVERSION, &gen) && gen &&
		     (uint32_t)gen != (uint32_t)img->ino_gen;

	if (fd >= 0)
		close(fd);
	return other;
}

static bool replaced_device(const struct image *img, const struct statx *st)
{
	return st->stx_dev_major != img->maj || st->stx_dev_minor != img->min;
}

/* Returns whether there is a file at the path, on the machine of the recording,
 * and whether it is the mapped one can be told; *other: it is not of the
 * recorded inode. */
static bool replaced_stat(const struct symbolizer *sy, const struct image *img,
			  struct statx *st, bool *other)
{
	if (!sy->opts.same_machine || !img->ino || !img->path ||
	    img->path[0] != '/' ||
	    statx(AT_FDCWD, img->path, 0, STATX_BASIC_STATS | STATX_BTIME,
		  st) ||
	    !S_ISREG(st->stx_mode))
		return false;
	/* Of a file system without a disk, such as an overlay or btrfs, stat()
	 * and records may have different devices and inodes for one file. */
	if (replaced_device(img, st) && !st->stx_dev_major)
		return false;
	*other = st->stx_ino != img->ino || replaced_generation(img);
	return true;
}

bool replaced_inode(const struct symbolizer *sy, const struct image *img)
{
	struct statx st;
	bool other;

	return replaced_stat(sy, img, &st, &other) && other;
}

enum replaced replaced_judge(const struct symbolizer *sy,
			     const struct image *img)
{
	const int64_t from = sy->opts.recorded_from;
	const int64_t to = sy->opts.recorded_to;
	struct statx st;
	bool other;

	if (!replaced_stat(sy, img, &st, &other))
		return REPLACED_NOT;
	bool device = replaced_device(img, &st);

	if (!other) /* nobody can set ctime back */
		return !device && replaced_ns(&st.stx_ctime) < from
			       ? REPLACED_NONE
			       : REPLACED_NOT;
	if (!to || device)
		return REPLACED_MAYBE;
	int64_t born =
		st.stx_mask & STATX_BTIME ? replaced_ns(&st.stx_btime) : 0;
	/* A file that gets another name is changed, too. On a file system
	 * without a disk, as those of other machines, an inode may have another
	 * number each time: there only the birth counts. */
	int64_t changed = st.stx_dev_major ? replaced_ns(&st.stx_ctime) : born;

	if (!img->id_len)
		return born >= from || changed >= from ? REPLACED_YES
						       : REPLACED_MAYBE;
	if (born > to)
		return REPLACED_NOT;
	return born >= from || (changed >= from && changed <= to)
		       ? REPLACED_YES
		       : REPLACED_MAYBE;
}

struct image replaced_image(const struct image *img, enum replaced judged)
{
	struct image as = *img;

	if (judged == REPLACED_YES)
		as.id_len = 0;
	return as;
}
