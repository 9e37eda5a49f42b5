/* identity.c - judges whether a file is the one that was mapped: the one place
 * that decides it.
 *
 * The kernel can write the build-id of a mapping into its record, which then
 * has no inode. Otherwise perf, in all versions, reads build-ids when the
 * recording ends, from the files that are then at the recorded paths: if a
 * program was built again meanwhile, its build-id is of the new one, and for a
 * mount namespace that has ended it is of the file at that path outside. The
 * inode in the record is of the mapped file, but differs between copies of a
 * file, and means nothing on another machine, unless the file is the same below
 * a folder that the user gives. */
#include "symbolize/files/identity.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "stitch/base/search.h"
#include "stitch/files/named_file.h"
#include "stitch/tasks/frame.h"
#include "symbolize/elf/elf.h"
#include "symbolize/symbolizer.h"

#define NS_PER_S 1000000000LL

bool identity_recorded_here(const char *host, const char *release)
{
	struct utsname here;

	return host && release && !uname(&here) &&
	       !strcmp(host, here.nodename) && !strcmp(release, here.release);
}

/* Whether a file has the recorded device and inode. */
enum identity_inode {
	INODE_UNKNOWN, /* the two numbers cannot be compared */
	INODE_SAME,
	INODE_OTHER,
};

/* Times in ns since 1970; 0: unknown. */
struct identity_file {
	enum identity_inode inode;
	bool device; /* it is on the recorded device */
	bool disk;   /* its file system is on a device */
	bool linked; /* it has more than one name */
	/* resolution of the times, whole seconds on old file systems: they may
	 * be later by so much */
	int64_t grain;
	int64_t born, written, changed;
};

static int64_t identity_ns(const struct statx_timestamp *t)
{
	return (int64_t)t->tv_sec * NS_PER_S + t->tv_nsec;
}

/* Returns whether the file has another generation than the record. Some file
 * systems soon use an inode number again, with another generation. Records that
 * perf makes from /proc have none. fd -1: the file is opened, unless it is one
 * of the kernel. */
static bool identity_other_generation(const struct image *img, int fd,
				      const char *path)
{
	/* the kernel writes 32 bits, despite the type of the request */
	long gen = 0;
	uint64_t size;
	int own = img->ino_gen && fd < 0 ? named_file_open(path, &size, NULL)
					 : -1;
	bool is = img->ino_gen &&
		  !ioctl(fd < 0 ? own : fd, FS_IOC_GETVERSION, &gen) && gen &&
		  (uint32_t)gen != (uint32_t)img->ino_gen;

	if (own >= 0)
		close(own);
	return is;
}

/* Looks at an open file or, if fd is -1, at the path. The path is from a
 * capture, so it is not opened: a device could react to that. Returns false if
 * there is no such regular file. */
static bool identity_stat(const struct image *img, int fd, const char *path,
			  struct identity_file *f)
{
	struct statx st;

	*f = (struct identity_file){ .inode = INODE_UNKNOWN };
	if (statx(fd < 0 ? AT_FDCWD : fd, fd < 0 ? path : "",
		  fd < 0 ? AT_NO_AUTOMOUNT : AT_EMPTY_PATH,
		  STATX_BASIC_STATS | STATX_BTIME, &st) ||
	    !S_ISREG(st.stx_mode))
		return false;
	f->device =
		st.stx_dev_major == img->maj && st.stx_dev_minor == img->min;
	f->disk = st.stx_dev_major != 0;
	f->linked = st.stx_nlink > 1;
	f->written = identity_ns(&st.stx_mtime);
	f->changed = identity_ns(&st.stx_ctime);
	if (!st.stx_mtime.tv_nsec && !st.stx_ctime.tv_nsec)
		f->grain = NS_PER_S - 1;
	f->born = st.stx_mask & STATX_BTIME ? identity_ns(&st.stx_btime) : 0;
	/* On a file system without a disk, such as an overlay or btrfs, stat()
	 * and records may have different devices and inodes for one file. */
	if (!img->ino || (!f->device && !f->disk))
		return true;
	f->inode = st.stx_ino == img->ino &&
				   !identity_other_generation(img, fd, path)
			   ? INODE_SAME
			   : INODE_OTHER;
	return true;
}

bool identity_may_be_mapped(const struct image *img)
{
	struct identity_file f;

	return identity_stat(img, -1, img->path, &f) &&
	       f.inode != INODE_OTHER && !image_is_before(img);
}

static bool identity_is_file(const struct image *img)
{
	return img->kind == IMAGE_FILE || img->kind == IMAGE_MAPPING;
}

bool identity_is_deleted(const char *path, size_t *len)
{
	static const char mark[] = " (deleted)";
	size_t n = strlen(path);
	size_t gone = sizeof(mark) - 1;
	bool is = n > gone && !strcmp(path + n - gone, mark);

	*len = is ? n - gone : n;
	return is;
}

enum identity_id identity_of_id(const struct symbolizer *sy,
				const struct image *img)
{
	struct identity_file f;

	if (!img->id_len)
		return IDENTITY_ID_NONE;
	/* a record has either a build-id or an inode */
	if (!identity_is_file(img) || (!img->ino && !sy->opts.ids_read))
		return IDENTITY_ID_OWN;
	if (!img->ino || !sy->opts.same_machine || !img->path ||
	    img->path[0] != '/' || !identity_stat(img, -1, img->path, &f) ||
	    f.inode != INODE_OTHER)
		return IDENTITY_ID_READ;
	/* Judge the build-id when the file at the path from which the recorder
	 * read it has another inode now, on the machine of the recording. If
	 * that file was created later, it was not the one that was read; if it
	 * was created during the recording, it was. Otherwise it may have been
	 * there all the time, and the mapped file in another mount
	 * namespace. */
	const int64_t from = sy->opts.recorded_from;
	const int64_t to = sy->opts.recorded_to;
	/* A new name changes ctime too. On a file system without a disk, as on
	 * other machines, an inode may have another number each time: there
	 * only the birth counts. */
	int64_t changed = f.disk ? f.changed : f.born;

	if (!to)
		return IDENTITY_ID_OPEN;
	if (!f.device)
		return IDENTITY_ID_DOUBT;
	if (f.born > to)
		return IDENTITY_ID_READ;
	return f.born >= from || (changed >= from && changed <= to)
		       ? IDENTITY_ID_NONE
		       : IDENTITY_ID_DOUBT;
}

bool identity_may_be_kept(const struct symbolizer *sy, const struct image *img)
{
	enum identity_id id = identity_of_id(sy, img);

	if (image_is_copy(img))
		return false;
	if (!img->id_len)
		return !img->several;
	/* A folder that the user gives may have the very file, which is another
	 * one than the build-id leads to. */
	return id == IDENTITY_ID_OWN ||
	       (id == IDENTITY_ID_READ &&
		!(img->ino && (sy->opts.symfs ||
			       (sy->opts.debug_dirs && *sy->opts.debug_dirs))));
}

uint64_t identity_span(const struct elf_file *ef)
{
	uint64_t code = UINT64_MAX, data = UINT64_MAX;
	uint64_t end = 0;

	for (size_t i = 0; i < ef->n_seg + ef->n_data; i++) {
		bool is_code = i < ef->n_seg;
		const struct segment *s =
			is_code ? &ef->seg[i] : &ef->data[i - ef->n_seg];
		uint64_t *first = is_code ? &code : &data;
		uint64_t seg_end;

		if (__builtin_add_overflow(s->vaddr, s->filesz, &seg_end))
			return 0;
		raise_to(end, seg_end);
		*first = s->vaddr < *first ? s->vaddr : *first;
	}
	return code < data ? end - elf_page_floor(code) : 0;
}

/* Returns the smallest page size of a machine, or up to 64 KiB for machines
 * that can have such pages: arm64, powerpc, LoongArch, MIPS. EM_NONE: unknown,
 * the smallest. */
static uint64_t identity_page(uint16_t machine)
{
	switch (machine) {
	case EM_NONE:
	case EM_386:
	case EM_X86_64:
	case EM_S390:
	case EM_ARM:
	case EM_RISCV:
		return 4096;
	default:
		return 65536;
	}
}

bool identity_fits(const struct identity_code *c, uint64_t pgoff, uint64_t len)
{
	uint64_t page = identity_page(c->machine);
	uint64_t end;
	uint64_t seg_end;

	if (__builtin_add_overflow(pgoff, len, &end))
		return false;
	for (size_t i = 0; i < c->n_seg; i++) {
		const struct segment *s = &c->seg[i];

		if (!__builtin_add_overflow(s->off, s->filesz, &seg_end) &&
		    pgoff <= s->off && s->off - pgoff < page &&
		    end >= seg_end && end - seg_end < page)
			return true;
		/* The first mapping of a file is as long as all of its
		 * segments, and the other segments are mapped over it: Linux
		 * (total_mapping_size()) and ld.so do so. */
		if (c->span && pgoff <= s->off && s->off - pgoff < page &&
		    len >= c->span && len - c->span < page)
			return true;
	}
	return false;
}

bool identity_maps(const struct identity_code *c, const struct image_part *part,
		   size_t n)
{
	uint64_t from = UINT64_MAX;
	uint64_t to = 0;
	uint64_t end;

	for (size_t i = 0; i < n; i++) {
		if (identity_fits(c, part[i].pgoff, part[i].len))
			return true;
		if (__builtin_add_overflow(part[i].pgoff, part[i].len, &end))
			continue;
		lower_to(from, part[i].pgoff);
		raise_to(to, end);
	}
	return !n || !c->n_seg ||
	       (from < to && identity_fits(c, from, to - from));
}

/* The fewest calls that are evidence: builds of one library often begin with
 * the same functions. */
#define CALLS_MIN 8
/* The most addresses inside an instruction in the right file: glibc jumps over
 * the lock prefix of some. */
#define MISSED_MIN 3
/* The most addresses without code in the right file: a wild jump may be sampled
 * once. */
#define OUTSIDE_MIN 2

/* Code without frame pointers makes wrong return addresses in the right file
 * too: of 30 in the text of a cc1 built so, 19 are not after a call. Of random
 * addresses, about 29 in 30 are not. So in the right file, at least one is
 * after a call for each so many that are not. */
#define CALLS_OF 4
/* A file whose code has the length that was mapped is doubted only if this many
 * are after no call. */
#define BAD_MIN 4

bool identity_is_sure(enum identity is)
{
	return is >= IDENTITY_READ;
}

/* The file at the path on the machine of the recording is believed: if it is
 * stripped, few of its addresses have a function. */
bool identity_is_open(enum identity is)
{
	return is != IDENTITY_PROVED && is != IDENTITY_BELIEVED;
}

bool identity_stands(enum identity is, const struct identity_seen *seen)
{
	if (is != IDENTITY_PROVED && seen->misfit)
		return false;
	const size_t missed = seen->missed + seen->outside;

	if (identity_is_open(is) &&
	    (seen->outside >= OUTSIDE_MIN ||
	     (missed >= MISSED_MIN && missed > seen->ran / 8)))
		return false;
	switch (is) {
	case IDENTITY_DOUBTFUL:
		return seen->calls >= CALLS_MIN &&
		       seen->calls >= seen->bad * 16;
	/* In another file, one address of three is at an instruction, and one
	 * of thirty after a call. */
	case IDENTITY_ASSUMED:
		return seen->ran + seen->calls * 3 >= 3 &&
		       seen->calls_of >= seen->bad_of * 4;
	case IDENTITY_OFFERED:
		return seen->ran + seen->calls * 3 >= 3 &&
		       seen->calls_of * CALLS_OF >= seen->bad_of;
	default:
		return true;
	}
}

const char *identity_why_other(enum identity is,
			       const struct identity_seen *seen)
{
	if (is == IDENTITY_PROVED)
		return NULL;
	if (seen->misfit)
		return "mapping";
	/* for code without frame pointers, return addresses are no evidence */
	if (identity_is_sure(is))
		return NULL;
	if (seen->bad < (seen->mapped ? BAD_MIN : 1))
		return NULL;
	return !seen->linked || seen->calls < seen->bad / CALLS_OF ? "calls"
								   : NULL;
}

int identity_compare(const struct identity_seen *a,
		     const struct identity_seen *b)
{
	return compare_numbers(b->missed + b->outside + b->bad_of,
			       a->missed + a->outside + a->bad_of);
}

bool identity_is_copy(const char *a, const char *b)
{
	struct elf_file *x = elf_file_open(a, NULL);
	struct elf_file *y = elf_file_open(b, NULL);
	bool is = x && y && x->id_len &&
		  elf_same_id(x->id, x->id_len, y->id, y->id_len);

	elf_file_close(x);
	elf_file_close(y);
	return is;
}

/* The texts are in backstitch-schema(5). */
#define SAID(name, sure, text)                                                 \
	static const struct identity_answer name = { .is = IDENTITY_##sure,    \
						     .why = text }
#define REFUSED(name, as)                                                      \
	static const struct identity_answer name = { .status = as }
SAID(proved, PROVED, "proved: build-id");
SAID(same_inode, PROVED, "proved: inode");
SAID(same_boot, PROVED, "proved: this boot");
SAID(read_id, READ, "read: build-id of the path");
SAID(given, GIVEN, "given: path");
SAID(virtual_inode, BELIEVED, "given: inode");
SAID(open_id, BELIEVED, "believed: build-id, another file is there now");
SAID(maybe_written, GIVEN, "believed: inode, perhaps written since");
SAID(unwritten, BELIEVED, "believed: path, not written since");
/* like subvolumes of btrfs, one of which can replace another */
SAID(no_inode, GIVEN, "believed: path, whose inode cannot be compared");
SAID(by_path, BELIEVED, "believed: path");
SAID(by_addresses, BELIEVED, "believed: addresses");
SAID(copy, BELIEVED, "believed: code in other memory");
SAID(assumed, ASSUMED, "assumed: path on another machine, and addresses");
SAID(assumed_inode, ASSUMED, "assumed: path with another inode, and addresses");
SAID(doubtful, DOUBTFUL, "doubtful: build-id of another file, and addresses");
SAID(offered, OFFERED, NULL);
REFUSED(unasked, IMAGE_NOT_TRIED);
REFUSED(replaced, IMAGE_REPLACED);
REFUSED(other_id, IMAGE_OTHER_ID);

/* Returns the verdict by the build-id. */
static struct identity_answer identity_by_id(enum identity_id id, bool same)
{
	if (id == IDENTITY_ID_NONE)
		return replaced;
	if (!same)
		return other_id;
	return id == IDENTITY_ID_DOUBT	? doubtful
	       : id == IDENTITY_ID_OPEN ? open_id
	       : id == IDENTITY_ID_READ ? read_id
					: proved;
}

struct identity_answer identity_judge_id(const struct symbolizer *sy,
					 const struct image *img)
{
	return identity_by_id(identity_of_id(sy, img), true);
}

/* Whether a file was written since it was mapped. */
enum identity_since {
	SINCE_NO,
	SINCE_PERHAPS,
	SINCE_YES,
};

/* Returns whether a file was written since it was mapped. ctime cannot be set
 * back as cp -p does with mtime, but a new name changes it too, such as the
 * link that perf makes in its cache when the recording ends. The build-id shows
 * what was written after that. */
static enum identity_since identity_since(const struct symbolizer *sy,
					  const struct image *img,
					  const struct identity_file *f)
{
	const struct symbolize_opts *o = &sy->opts;
	const uint64_t first = o->recorded_first;
	/* for what was mapped before the recording, the time is unknown */
	int64_t least =
		o->recorded_from +
		(img->mapped > first ? (int64_t)(img->mapped - first) : 0);
	int64_t most = least + o->recorded_slack;

	if (!o->recorded_from)
		return SINCE_PERHAPS;
	if (img->mapped &&
	    ((f->written > most && f->written <= o->recorded_to) ||
	     (!f->linked && f->changed > most && f->changed <= o->recorded_to)))
		return SINCE_YES;
	return f->written + f->grain < least && f->changed + f->grain < least
		       ? SINCE_NO
		       : SINCE_PERHAPS;
}

uint64_t identity_written(const struct symbolizer *sy, const struct image *img)
{
	const struct symbolize_opts *o = &sy->opts;
	struct identity_file f;

	/* Where inodes cannot be compared, another file may have been moved to
	 * the path: before that time the path had another one too. */
	if (!o->same_machine || !o->recorded_from || !identity_is_file(img) ||
	    !img->ino || img->path[0] != '/' ||
	    !identity_stat(img, -1, img->path, &f) || f.inode == INODE_OTHER)
		return 0;
	int64_t at = f.written;

	if (!f.linked)
		raise_to(at, f.changed);
	at -= o->recorded_from + o->recorded_slack;
	return at > 0 && at <= o->recorded_to - o->recorded_from
		       ? o->recorded_first + (uint64_t)at
		       : 0;
}

/* Returns the verdict for a file with another inode than the recorded one, or
 * if none is known. */
static struct identity_answer identity_judge_file(const struct symbolizer *sy,
						  const struct image *img,
						  const struct identity_file *f,
						  enum found_at at, bool same)
{
	enum identity_id id = identity_of_id(sy, img);
	const int64_t earlier = sy->opts.recorded_before;
	bool before = image_is_before(img);
	size_t len;

	if (before && at != FOUND_GIVEN && at != FOUND_INODE)
		return replaced;
	if (f->inode == INODE_SAME && !before &&
	    (at != FOUND_PATH || sy->opts.same_machine)) {
		/* the file has the recorded inode */
		enum identity_since since = identity_since(sy, img, f);

		/* The recorder may have read the build-id of another file from
		 * the path: if the user gives a file, the addresses decide. */
		if (id == IDENTITY_ID_READ && !same &&
		    (at != FOUND_GIVEN || since != SINCE_NO))
			return at == FOUND_GIVEN || at == FOUND_INODE
				       ? offered
				       : other_id;
		if (since == SINCE_YES)
			return replaced;
		if (since == SINCE_NO)
			return same_inode;
		if (at == FOUND_GIVEN && id < IDENTITY_ID_READ)
			return given;
		if (id != IDENTITY_ID_NONE)
			return identity_by_id(id, same);
		/* the times of the file system are too coarse: it may have been
		 * written after it was mapped, in the same second */
		return (earlier && f->written > earlier) ||
				       (f->grain && sy->opts.recorded_from)
			       ? replaced
			       : maybe_written;
	}
	/* two files may have had this number */
	if (at == FOUND_INODE)
		return before || img->reused ? offered : virtual_inode;
	/* A copy of the right file has another inode: the user decides what it
	 * is, if only one file is possible. */
	if (at == FOUND_GIVEN && id < IDENTITY_ID_READ)
		return img->several ? offered : given;
	if (at == FOUND_GIVEN && !same)
		return offered;
	if (id != IDENTITY_ID_NONE)
		return identity_by_id(id, same);
	/* a file in perf's cache of this machine was at that path */
	if (at != FOUND_PATH ||
	    (f->inode == INODE_OTHER && sy->opts.same_machine))
		return sy->opts.same_machine ? replaced : unasked;
	/* only the path is known */
	/* of several files, the last one must be written before it was
	 * mapped */
	if ((img->several && !identity_written(sy, img)) ||
	    identity_is_deleted(img->path, &len) ||
	    (earlier && f->written > earlier))
		return replaced;
	/* another inode means another machine, or a new file; a recording that
	 * was killed has no name of its machine */
	return sy->opts.other_machine	 ? assumed
	       : f->inode == INODE_OTHER ? assumed_inode
	       : !sy->opts.same_machine	 ? by_path
	       : img->ino		 ? no_inode
	       : earlier		 ? unwritten
					 : by_path;
}

/* Returns the verdict after naming has looked at the addresses. */
static struct identity_answer identity_settled(const struct symbolizer *sy,
					       const struct image *img,
					       const char *path,
					       struct identity_answer answer)
{
	if (answer.is == IDENTITY_ANOTHER || answer.is == IDENTITY_PROVED ||
	    !img->settled)
		return answer;
	if (!strcmp(path, img->settled))
		return by_addresses;
	for (size_t i = 0; i < sy->n_refused; i++)
		if (!strcmp(path, sy->refused[i]))
			return replaced;
	/* a file with that build-id would have been taken */
	return answer.is == IDENTITY_READ ? replaced : answer;
}

struct identity_answer identity_judge(const struct symbolizer *sy,
				      const struct image *img,
				      const struct elf_file *ef,
				      enum found_at at)
{
	bool same = img->id_len &&
		    elf_same_id(ef->id, ef->id_len, img->id, img->id_len);
	struct identity_file f;

	if (!identity_is_file(img) ||
	    (img->id_len && identity_of_id(sy, img) == IDENTITY_ID_OWN)) {
		if (img->id_len && !same)
			return other_id;
		return image_is_copy(img) ? copy : same ? proved : by_path;
	}
	struct identity_answer answer =
		ef->fd >= 0 && identity_stat(img, ef->fd, "", &f)
			? identity_settled(
				  sy, img, ef->path,
				  identity_judge_file(sy, img, &f, at, same))
		: same ? proved
		       : by_path;

	return answer.is == IDENTITY_PROVED && image_is_copy(img) ? copy
								  : answer;
}

struct identity_answer identity_judge_vdso(const struct symbolizer *sy,
					   const struct image *img,
					   const struct elf_file *ef)
{
	if (img->id_len)
		return elf_same_id(ef->id, ef->id_len, img->id, img->id_len)
			       ? proved
			       : other_id;
	/* the vdso for 32-bit programs is not this process's */
	struct timespec wall, up;

	if (!sy->opts.same_machine || !sy->opts.recorded_from || !img->path ||
	    strcmp(img->path, "[vdso]") != 0 ||
	    clock_gettime(CLOCK_REALTIME, &wall) ||
	    clock_gettime(CLOCK_BOOTTIME, &up))
		return unasked;
	/* the running kernel is the recorded one if it was started before */
	return sy->opts.recorded_from > (wall.tv_sec - up.tv_sec) * NS_PER_S +
						wall.tv_nsec - up.tv_nsec
		       ? same_boot
		       : unasked;
}
