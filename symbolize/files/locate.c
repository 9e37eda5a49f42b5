/* locate.c - finds the file of an image and its separate debug file, and
 * records which files were looked for. */
#include "symbolize/files/locate.h"

#include <dirent.h>
#include <inttypes.h>
#include <lzma.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "stitch/base/bytes.h"
#include "stitch/base/log.h"
#include "stitch/base/mem.h"
#include "stitch/base/now.h"
#include "stitch/files/path.h"
#include "stitch/tasks/frame.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/fetch.h"
#include "symbolize/report.h"
#include "symbolize/symbolizer.h"

#define NS 1000000000u
/* Times of files have the resolution of the kernel's tick or, on other file
 * systems, of up to two seconds. */
#define YOUNG ((uint64_t)2 * NS)

static uint64_t tried_files_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * NS + (uint64_t)t->tv_nsec;
}

static void tried_files_identify(struct tried_path *p)
{
	struct stat st;

	memset(p->id, 0, sizeof(p->id));
	p->changed = 0;
	if (stat(p->path, &st))
		return;
	p->id[0] = st.st_dev;
	p->id[1] = st.st_ino;
	p->id[2] = (uint64_t)st.st_size;
	p->id[3] = tried_files_ns(&st.st_mtim);
	p->changed = tried_files_ns(&st.st_ctim);
}

void tried_files_add(struct tried_files *t, const char *path)
{
	struct tried_path *p = NULL;

	if (!t)
		return;
	/* searched again, as it may have been created meanwhile */
	for (size_t i = 0; i < t->n && !p; i++)
		if (!strcmp(t->p[i].path, path))
			p = &t->p[i];
	if (!p) {
		p = mem_add(t->p, t->n, t->cap);
		*p = (struct tried_path){ .path = mem_strdup(path) };
	}
	tried_files_identify(p);
	t->young |= p->changed + YOUNG > (uint64_t)now_wall_ns();
}

bool tried_files_unchanged(const struct tried_files *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct tried_path now = { .path = t->p[i].path };

		tried_files_identify(&now);
		if (memcmp(now.id, t->p[i].id, sizeof(now.id)) != 0 ||
		    (t->p[i].changed && now.changed != t->p[i].changed))
			return false;
	}
	return true;
}

bool tried_files_can_tell(const struct tried_files *t)
{
	return !any_where(t->n, i,
			  t->p[i].id[1] &&
				  (!strncmp(t->p[i].path, "/proc/", 6) ||
				   !strncmp(t->p[i].path, "/sys/", 5)));
}

void tried_files_release(struct tried_files *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->p[i].path);
	free(t->p);
	memset(t, 0, sizeof(*t));
}

#define DEBUG_ROOT "/usr/lib/debug"

static void places_add(struct places *p, const char *fmt, ...)
	__attribute__((format(__printf__, 2, 3)));

static void places_add(struct places *p, const char *fmt, ...)
{
	char path[PATH_SIZE];
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (n <= 0 || (size_t)n >= sizeof(path) || p->n == PLACES_MAX)
		return;
	p->at[p->n] = p->adding;
	p->path[p->n++] = mem_strdup(path);
	tried_files_add(p->tried, path);
}

void places_release(struct places *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->path[i]);
	p->n = 0;
}

static bool locate_usable_path(const struct image *img)
{
	return (img->kind == IMAGE_FILE || img->kind == IMAGE_MAPPING) &&
	       img->path && img->path[0] == '/' && !path_leaves_root(img->path);
}

/* Formats the build-id as "xx/yyyy..."; "" if there is none. */
static void locate_id_path(const struct image *img, char out[64])
{
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; img->id_len <= 20 && i < img->id_len; i++)
		n += (size_t)snprintf(out + n, 64 - n,
				      i == 1 ? "/%02x" : "%02x", img->id[i]);
	if (img->id_len < 2)
		out[0] = '\0';
}

/* Adds the file in the debuginfod cache, whichever program downloaded it. */
static void places_add_fetched(const struct symbolizer *sy,
			       const struct image *img, const char *what,
			       struct places *out)
{
	char hex[2 * sizeof(img->id) + 1];

	if (!sy->opts.fetch_cache || !img->id_len ||
	    img->id_len > sizeof(img->id))
		return;
	elf_id_hex(img->id, img->id_len, hex);
	places_add(out, "%s/%s/%s", sy->opts.fetch_cache, hex, what);
}

static const char *const no_dirs[] = { NULL };

static const char *const *locate_debug_dirs(const struct symbolizer *sy)
{
	return sy->opts.debug_dirs ? sy->opts.debug_dirs : no_dirs;
}

/* perf's cache: the folder xx/yyyy contains elf, debug, vdso and kallsyms. In
 * old versions xx/yyyy was the file itself. */
static void places_add_perf_cache(const struct symbolizer *sy, const char *id,
				  const char *what, struct places *out)
{
	if (!sy->opts.home || !id[0])
		return;
	places_add(out, "%s/.debug/.build-id/%s/%s", sy->opts.home, id, what);
	places_add(out, "%s/.debug/.build-id/%s", sy->opts.home, id);
}

/* perf's cache has a folder for each path, with a folder for each build-id. If
 * it is unknown which of these is the image's, the inode decides: perf links
 * files there. A program that is built often has hundreds, which must leave
 * room for other places. */
static void places_add_linked(const struct symbolizer *sy,
			      const struct image *img, const char *path,
			      struct places *out)
{
	char folder[PATH_SIZE], file[sizeof(folder)];
	struct dirent *e;
	struct stat st;
	int n = sy->opts.home ? snprintf(folder, sizeof(folder), "%s/.debug%s",
					 sy->opts.home, path)
			      : -1;
	DIR *d = n > 0 && (size_t)n < sizeof(folder) ? opendir(folder) : NULL;

	while (d && (e = readdir(d))) {
		n = snprintf(file, sizeof(file), "%s/%s/elf", folder,
			     e->d_name);
		if (e->d_name[0] == '.' || n < 0 || (size_t)n >= sizeof(file))
			continue;
		if (out->n < PLACES_MAX / 2 ||
		    (!stat(file, &st) && st.st_ino == img->ino))
			places_add(out, "%s", file);
	}
	if (d)
		closedir(d);
}

/* Adds places at a recorded path; id: build-id of the image, as a path. */
static void locate_file(const struct symbolizer *sy, const struct image *img,
			const char *id, struct places *out)
{
	const char *symfs = sy->opts.symfs;
	size_t len;

	if (!locate_usable_path(img))
		return;
	/* A package update replaces the file, and the record has the path of
	 * the old one. */
	bool gone = identity_is_deleted(img->path, &len);
	char *path OWNED = mem_strdup(img->path);

	path[len] = '\0';
	const char *base = path_base(path);

	/* copies of several files that were mapped from the path */
	out->adding = FOUND_INODE;
	for (const char *const *d = locate_debug_dirs(sy); img->ino && *d; d++)
		places_add(out, "%s/%s.%" PRIu64, *d, base, img->ino);
	if (symfs && img->ino) {
		places_add(out, "%s%s.%" PRIu64, symfs, path, img->ino);
		places_add(out, "%s/%s.%" PRIu64, symfs, base, img->ino);
	}
	out->adding = FOUND_GIVEN;
	if (symfs) {
		places_add(out, "%s%s", symfs, path);
		/* the flat layout of perf 7.1 */
		places_add(out, "%s/%s", symfs, base);
	}
	for (const char *const *d = locate_debug_dirs(sy); *d; d++) {
		places_add(out, "%s%s", *d, path);
		places_add(out, "%s/%s", *d, base);
	}
	out->adding = FOUND_BY_ID;
	places_add_perf_cache(sy, id, "elf", out);
	if (img->ino && identity_of_id(sy, img) < IDENTITY_ID_READ)
		places_add_linked(sy, img, path, out);
	out->adding = FOUND_PATH;
	if (!symfs) {
		places_add(out, "%s", img->path);
		if (gone)
			places_add(out, "%s", path);
	}
	out->adding = FOUND_BY_ID;
}

/* Adds places of the file that was mapped. */
static void locate_image(const struct symbolizer *sy, const struct image *img,
			 struct places *out)
{
	char id[64];

	locate_id_path(img, id);
	if (img->kind == IMAGE_VDSO) {
		bool narrow = img->path && !strcmp(img->path, "[vdso32]");

		if (sy->opts.symfs)
			places_add(out, "%s/%s", sy->opts.symfs,
				   narrow ? "[vdso32]" : "[vdso]");
		places_add_perf_cache(sy, id, "vdso", out);
		return;
	}
	locate_file(sy, img, id, out);
	if (!id[0])
		return;
	for (const char *const *d = locate_debug_dirs(sy); *d; d++)
		places_add(out, "%s/.build-id/%s", *d, id);
	if (sy->opts.symfs)
		places_add(out, "%s" DEBUG_ROOT "/.build-id/%s", sy->opts.symfs,
			   id);
	places_add(out, DEBUG_ROOT "/.build-id/%s", id);
	places_add_fetched(sy, img, "executable", out);
}

/* Adds places of the debug file by build-id and path. img->path may be NULL. */
static void locate_debug(const struct symbolizer *sy, const struct image *img,
			 struct places *out)
{
	const char *symfs = sy->opts.symfs ? sy->opts.symfs : "";
	char id[64];

	locate_id_path(img, id);
	if (id[0]) {
		for (const char *const *d = locate_debug_dirs(sy); *d; d++)
			places_add(out, "%s/.build-id/%s.debug", *d, id);
		if (*symfs) {
			places_add(out, "%s/.build-id/%s.debug", symfs, id);
			places_add(out, "%s" DEBUG_ROOT "/.build-id/%s.debug",
				   symfs, id);
		}
		if (sy->opts.home)
			places_add(out, "%s/.debug/.build-id/%s/debug",
				   sy->opts.home, id);
		places_add(out, DEBUG_ROOT "/.build-id/%s.debug", id);
	}
	places_add_fetched(sy, img, "debuginfo", out);
	if (!locate_usable_path(img))
		return;
	for (const char *const *d = locate_debug_dirs(sy); *d; d++)
		places_add(out, "%s%s.debug", *d, img->path);
	if (*symfs)
		places_add(out, "%s/%s.debug", symfs, path_base(img->path));
	places_add(out, "%s" DEBUG_ROOT "%s", symfs, img->path);
	places_add(out, "%s" DEBUG_ROOT "%s.debug", symfs, img->path);
}

/* Adds a file in a folder next to ef and, as ef may be a copy in perf's cache,
 * next to the recorded path; NULL: unknown. */
static void places_add_adjacent(const struct symbolizer *sy,
				const struct elf_file *ef, const char *path,
				const char *folder, const char *name,
				struct places *out)
{
	const char *symfs = sy->opts.symfs ? sy->opts.symfs : "";
	const char *slash = strrchr(ef->path, '/');

	if (slash)
		places_add(out, "%.*s/%s%s", (int)(slash - ef->path), ef->path,
			   folder, name);
	if (path && strcmp(path, ef->path) != 0)
		places_add(out, "%s%.*s/%s%s", symfs,
			   (int)(path_base(path) - 1 - path), path, folder,
			   name);
}

const char *locate_recorded(const struct image *img)
{
	return locate_usable_path(img) ? img->path : NULL;
}

void locate_split(const struct symbolizer *sy, const struct elf_file *ef,
		  const char *folder, const char *name, struct places *out)
{
	const char *symfs = sy->opts.symfs;

	out->tried = sy->tried;
	if (symfs &&
	    (path_leaves_root(name) || (folder && path_leaves_root(folder))))
		return;
	for (const char *const *d = locate_debug_dirs(sy); *d; d++)
		places_add(out, "%s/%s", *d, path_base(name));
	if (*name == '/') {
		places_add(out, "%s%s", symfs ? symfs : "", name);
		return;
	}
	places_add_adjacent(sy, ef, sy->recorded, "", name, out);
	if (folder && *folder == '/')
		places_add(out, "%s%s/%s", symfs ? symfs : "", folder, name);
}

void locate_package(const struct symbolizer *sy, const struct elf_file *ef,
		    struct places *out)
{
	static const char debug[] = ".debug";
	/* path of the program of which ef is perf's copy; NULL: it is no
	 * copy */
	const char *path = sy->recorded && strcmp(sy->recorded, ef->path) != 0
				   ? sy->recorded
				   : NULL;
	size_t len = strlen(ef->path);
	size_t end = sizeof(debug) - 1;

	out->tried = sy->tried;
	for (const char *const *d = locate_debug_dirs(sy); *d; d++)
		places_add(out, "%s/%s.dwp", *d, path_base(ef->path));
	places_add(out, "%s.dwp", ef->path);
	if (path) {
		for (const char *const *d = locate_debug_dirs(sy); *d; d++)
			places_add(out, "%s/%s.dwp", *d, path_base(path));
		places_add(out, "%s%s.dwp",
			   sy->opts.symfs ? sy->opts.symfs : "", path);
	}
	/* the program whose debug information was moved to this file */
	if (len > end && !strcmp(ef->path + len - end, debug))
		places_add(out, "%.*s.dwp", (int)(len - end), ef->path);
}

/* A file that was copied to this machine may have been compressed or
 * decompressed, and /lib may have become /usr/lib. */
void locate_module(const struct symbolizer *sy, const struct image *img,
		   const char *path, struct places *out)
{
	static const char *const end[] = { "", ".xz", ".zst", ".gz" };
	const char *ko = strstr(path, ".ko");
	int len = (int)(ko ? (size_t)(ko + 3 - path) : strlen(path));
	struct image as_file = *img;
	char id[64];

	locate_id_path(img, id);
	for (int usr = 0; usr < 2; usr++) {
		if (usr && strncmp(path, "/lib/", 5) != 0)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(end); i++) {
			char name[PATH_SIZE];
			int n = snprintf(name, sizeof(name), "%s%.*s%s",
					 usr ? "/usr" : "", len, path, end[i]);

			if (n < 0 || (size_t)n >= sizeof(name))
				continue;
			as_file.kind = IMAGE_FILE;
			as_file.path = name;
			locate_file(sy, &as_file, i || usr ? "" : id, out);
		}
	}
	locate_debug(sy, img, out);
}

static void locate_vmlinux(const struct symbolizer *sy, const struct image *img,
			   struct places *out)
{
	char id[64];

	if (sy->opts.vmlinux) {
		places_add(out, "%s", sy->opts.vmlinux);
		return;
	}
	locate_id_path(img, id);
	if (!id[0])
		return;
	if (sy->opts.symfs)
		places_add(out, "%s/vmlinux", sy->opts.symfs);
	if (sy->opts.home)
		places_add(out, "%s/.debug/.build-id/%s/vmlinux", sy->opts.home,
			   id);
	places_add_perf_cache(sy, id, "elf", out);
	locate_debug(sy, img, out);
}

void locate_boot(const struct symbolizer *sy, struct places *out)
{
	const char *symfs = sy->opts.symfs ? sy->opts.symfs : "";
	const char *release = sy->opts.release;

	if (sy->opts.vmlinux) {
		places_add(out, "%s", sy->opts.vmlinux);
	} else if (release && !strchr(release, '/')) {
		places_add(out, "%s/boot/vmlinuz-%s", symfs, release);
		places_add(out, "%s/lib/modules/%s/vmlinuz", symfs, release);
		places_add(out, "%s/usr/lib/modules/%s/vmlinuz", symfs,
			   release);
	}
}

void locate_kallsyms(const struct symbolizer *sy, const struct image *img,
		     struct places *out)
{
	char id[64];

	locate_id_path(img, id);
	if (id[0] && sy->opts.home)
		places_add(out, "%s/.debug/.build-id/%s/kallsyms",
			   sy->opts.home, id);
}

/* Opens the first file with this build-id, that of a file that was found
 * already, such as its debug file. Returns NULL if there is none. */
static struct elf_file *places_open(const struct places *p, const uint8_t *id,
				    size_t id_len)
{
	for (size_t i = 0; i < p->n; i++) {
		struct elf_file *ef = elf_file_open(p->path[i], NULL);

		if (ef && elf_same_id(ef->id, ef->id_len, id, id_len))
			return ef;
		elf_file_close(ef);
	}
	return NULL;
}

/* Opens the first place that is proved, or else the first of those with the
 * best evidence. *answer: the verdict; the image's status by the first file
 * that is another one. */
static struct elf_file *places_judge(const struct places *p,
				     const struct symbolizer *sy,
				     const struct image *img,
				     struct identity_answer *answer)
{
	struct elf_file *best = NULL;

	*answer = (struct identity_answer){ .is = IDENTITY_ANOTHER };
	for (size_t i = 0; i < p->n && !identity_is_sure(answer->is); i++) {
		struct elf_file *ef = elf_file_open(p->path[i], NULL);

		if (!ef)
			continue;
		struct identity_answer s =
			identity_judge(sy, img, ef, p->at[i]);

		LOG(LOG_FILES, "%s: %s is %s", img->path, p->path[i],
		    s.why      ? s.why
		    : s.status ? image_status_word(s.status)
			       : "not asked for");
		if (s.is > answer->is) {
			elf_file_close(best);
			best = ef;
			*answer = s;
			continue;
		}
		if (!answer->status && answer->is == IDENTITY_ANOTHER) {
			*answer = s;
			if (ef->id_len <= sizeof(img->id))
				elf_id_hex(ef->id, ef->id_len, answer->found);
		}
		elf_file_close(ef);
	}
	return best;
}

/* Returns whether the file of an image without build-id exists, but nothing
 * could be opened as an ELF file: programs that map their own code have such
 * images (Lisp, Wine). */
static bool locate_is_no_elf(const struct symbolizer *sy,
			     const struct image *img)
{
	struct places p = { .tried = sy->tried, .adding = FOUND_BY_ID };
	struct stat st;
	bool there = false;

	if (img->kind != IMAGE_FILE || img->id_len)
		return false;
	locate_image(sy, img, &p);
	for (size_t i = 0; i < p.n; i++)
		there |= p.at[i] != FOUND_BY_ID && !stat(p.path[i], &st) &&
			 S_ISREG(st.st_mode) && !access(p.path[i], R_OK);
	places_release(&p);
	return there;
}

struct elf_file *locate_open(const struct symbolizer *sy,
			     const struct image *img,
			     struct identity_answer *answer)
{
	struct places p = { .tried = sy->tried, .adding = FOUND_BY_ID };

	if (img->kind == IMAGE_KERNEL)
		locate_vmlinux(sy, img, &p);
	else
		locate_image(sy, img, &p);
	struct elf_file *ef = places_judge(&p, sy, img, answer);
	places_release(&p);
	/* A capture does not contain the vdso. */
	if (!ef && img->kind == IMAGE_VDSO && !sy->opts.no_live) {
		ef = vdso_own();
		*answer = ef ? identity_judge_vdso(sy, img, ef) : *answer;
	}
	if (ef && answer->is == IDENTITY_ANOTHER) {
		elf_file_close(ef);
		ef = NULL;
	}
	/* whatever is there now, the capture shows a second file */
	if (!ef && img->several)
		answer->status = IMAGE_REPLACED;
	if (!ef && !answer->status)
		answer->status = img->kind == IMAGE_VDSO     ? IMAGE_NO_COPY
				 : locate_is_no_elf(sy, img) ? IMAGE_NO_ELF
							     : IMAGE_NO_FILE;
	return ef;
}

/* Returns whether path, which is canonical, is below a folder. */
static bool locate_is_below(const char *path, const char *folder)
{
	char *root OWNED = realpath(folder, NULL);
	size_t n = root ? strlen(root) : 0;
	return root && !strncmp(path, root, n) &&
	       (path[n] == '/' || !strcmp(root, "/"));
}

/* Returns whether path is in the folder of another file, or in .debug there. */
static bool locate_is_adjacent(const char *path, const char *other)
{
	char *file OWNED = realpath(other, NULL);
	size_t n = file ? (size_t)(path_base(file) - file) : 0;
	const char *rest = path + n;

	if (!n || strncmp(path, file, n) != 0)
		return false;
	if (!strncmp(rest, ".debug/", 7))
		rest += 7;
	return !strchr(rest, '/');
}

bool locate_is_debug_place(const struct symbolizer *sy, const char *path,
			   const char *beside)
{
	char *real OWNED = realpath(path, NULL);
	char cache[PATH_SIZE];

	if (!real)
		return false;
	snprintf(cache, sizeof(cache), "%s/.debug",
		 sy->opts.home ? sy->opts.home : "");
	bool is = locate_is_below(real, DEBUG_ROOT) ||
		  (sy->opts.home && locate_is_below(real, cache)) ||
		  (sy->opts.symfs && locate_is_below(real, sy->opts.symfs)) ||
		  (sy->opts.fetch_cache &&
		   locate_is_below(real, sy->opts.fetch_cache)) ||
		  (beside && locate_is_adjacent(real, beside));
	for (const char *const *d = locate_debug_dirs(sy); !is && *d; d++)
		is = locate_is_below(real, *d);
	return is;
}

/* Opens the file of an image, or its debug file. */
static struct elf_file *locate_open_any(struct symbolizer *sy,
					const struct image *img,
					struct identity_answer *answer)
{
	struct places p = { .tried = sy->tried, .adding = FOUND_BY_ID };
	struct identity_answer debug;
	struct elf_file *ef = locate_open(sy, img, answer);

	if (ef || !img->id_len)
		return ef;
	locate_debug(sy, img, &p);
	ef = places_judge(&p, sy, img, &debug);
	places_release(&p);
	if (ef || debug.status)
		*answer = debug;
	return ef;
}

bool locate_report(struct symbolizer *sy, const struct image *img,
		   struct identity_answer *answer)
{
	struct elf_file *ef = locate_open_any(sy, img, answer);

	if ((!ef || ef->no_code) && img->kind == IMAGE_FILE &&
	    fetch_file(sy, FETCH_CODE, img->id, img->id_len)) {
		elf_file_close(ef);
		ef = locate_open_any(sy, img, answer);
	}
	if (!ef) {
		report_status(sy, answer->status);
		if (answer->status == IMAGE_OTHER_ID)
			snprintf(sy->rep->refused, sizeof(sy->rep->refused),
				 "refused: build-id %s", answer->found);
		return false;
	}
	const struct identity_code code = { ef->seg, ef->n_seg,
					    identity_span(ef), ef->machine };

	sy->unproved = !identity_is_sure(answer->is);
	sy->rep->identity = answer->why;
	/* a debug file does not have the offsets of code */
	sy->rep->misfit =
		!ef->no_code && !identity_maps(&code, img->part, img->n_part);
	/* Offsets into a debug file are a guess, see elf_read_segments(). */
	report_file(sy, ef->path);
	report_status(sy, ef->no_code ? IMAGE_UNVERIFIED : IMAGE_NAMED);
	elf_file_close(ef);
	return true;
}

/* Compares the CRC-32 of the whole file with the one in .gnu_debuglink. */
static bool debugfile_has_crc(const struct elf_file *ef, uint32_t want)
{
	unsigned char buf[65536];
	uint32_t crc = 0;
	off_t pos = 0;
	ssize_t n;

	while ((n = pread(ef->fd, buf, sizeof(buf), pos)) > 0) {
		crc = lzma_crc32(buf, (size_t)n, crc);
		pos += n;
	}
	return crc == want;
}

/* Reads the name at the start of a section; *b is left on the bytes after. */
static bool debugfile_read_link(const struct elf_file *ef, const char *section,
				struct bytes *b, const char **name)
{
	struct elf_section s;

	if (!elf_section_find(ef, section, &s))
		return false;
	Elf_Data *d = elf_section_data(&s);
	if (!d)
		return false;
	bytes_init(b, d->d_buf, d->d_size, ef->path, 0, ef->swap);
	return !bytes_str(b, name, NULL);
}

/* Opens the first place with the build-id, or downloads the file. */
static struct elf_file *debugfile_by_id(struct symbolizer *sy,
					const struct image *img,
					struct places *p)
{
	struct elf_file *ef = places_open(p, img->id, img->id_len);

	if (!ef && fetch_file(sy, FETCH_DEBUG, img->id, img->id_len)) {
		places_release(p);
		locate_debug(sy, img, p);
		ef = places_open(p, img->id, img->id_len);
	}
	return ef;
}

struct elf_file *debugfile_open(struct symbolizer *sy, const struct image *img,
				const struct elf_file *ef)
{
	struct image found = *img;
	struct places p = { .tried = sy->tried };
	struct elf_file *debug = NULL;
	struct bytes b;
	const char *name;
	bool linked = debugfile_read_link(ef, ".gnu_debuglink", &b, &name);
	uint32_t crc = 0;

	found.id_len = ef->id_len;
	memcpy(found.id, ef->id, sizeof(found.id));
	locate_debug(sy, &found, &p);
	/* the name in .gnu_debuglink comes from the file: only a plain file
	 * name is accepted */
	if (linked && name[0] && !strchr(name, '/') && strcmp(name, "..")) {
		const char *symfs = sy->opts.symfs ? sy->opts.symfs : "";

		places_add_adjacent(sy, ef, locate_recorded(&found), "", name,
				    &p);
		places_add_adjacent(sy, ef, locate_recorded(&found), ".debug/",
				    name, &p);
		for (const char *const *dir = locate_debug_dirs(sy); *dir;
		     dir++)
			places_add(&p, "%s/%s", *dir, name);
		if (locate_usable_path(&found)) {
			int n = (int)(strrchr(found.path, '/') - found.path);

			for (const char *const *d = locate_debug_dirs(sy); *d;
			     d++)
				places_add(&p, "%s%.*s/%s", *d, n, found.path,
					   name);
			places_add(&p, "%s" DEBUG_ROOT "%.*s/%s", symfs, n,
				   found.path, name);
		}
	}
	if (ef->id_len) {
		debug = debugfile_by_id(sy, &found, &p);
	} else if (linked && !bytes_skip(&b, -(bytes_off(&b)) & 3, NULL) &&
		   !bytes_u32(&b, &crc, NULL)) {
		for (size_t i = 0; i < p.n && !debug; i++) {
			debug = elf_file_open(p.path[i], NULL);
			if (debug && !debugfile_has_crc(debug, crc)) {
				elf_file_close(debug);
				debug = NULL;
			}
		}
	}
	places_release(&p);
	return debug;
}

struct elf_file *debugfile_shared(struct symbolizer *sy,
				  const struct elf_file *ef)
{
	struct places p = { .tried = sy->tried };
	struct image img = { .kind = IMAGE_FILE };
	struct bytes b;
	const char *name;

	if (!debugfile_read_link(ef, ".gnu_debugaltlink", &b, &name))
		return NULL;
	size_t len = bytes_left(&b);
	if (!len || len > sizeof(img.id))
		return NULL;
	memcpy(img.id, b.pos, len);
	img.id_len = (uint8_t)len;
	locate_debug(sy, &img, &p);
	/* Adds places of the file named by .gnu_debugaltlink of ef. dwz writes
	 * "../../.dwz/NAME", relative to the place of the debug file. */
	const char *symfs = sy->opts.symfs ? sy->opts.symfs : "";
	const char *below = strstr(name, ".dwz/");
	const char *base = path_base(name);

	if (below && !path_leaves_root(below)) {
		for (const char *const *d = locate_debug_dirs(sy); *d; d++)
			places_add(&p, "%s/%s", *d, below);
		places_add(&p, "%s" DEBUG_ROOT "/%s", symfs, below);
	}
	if (*base && !path_leaves_root(base))
		places_add_adjacent(sy, ef, sy->recorded, "", base, &p);
	struct elf_file *found = debugfile_by_id(sy, &img, &p);

	places_release(&p);
	return found;
}

struct elf_file *debugfile_copy(const struct symbolizer *sy,
				const struct image *img,
				const struct elf_file *ef, debugfile_fn *fn,
				void *arg)
{
	struct places p = { .tried = sy->tried };
	struct elf_file *copy = NULL;

	if (!ef->id_len)
		return NULL;
	locate_image(sy, img, &p);
	for (size_t i = 0; i < p.n && !copy; i++) {
		copy = elf_file_open(p.path[i], NULL);
		if (copy &&
		    (!elf_same_id(copy->id, copy->id_len, ef->id, ef->id_len) ||
		     !fn(arg, copy))) {
			elf_file_close(copy);
			copy = NULL;
		}
	}
	places_release(&p);
	return copy;
}

bool debugfile_try(struct symbolizer *sy, const struct image *img,
		   const struct elf_file *ef, debugfile_fn *fn, void *arg,
		   struct elf_file **debug)
{
	if (fn(arg, ef))
		return true;
	*debug = debugfile_open(sy, img, ef);
	if (*debug && fn(arg, *debug))
		return true;
	struct elf_file *copy = debugfile_copy(sy, img, ef, fn, arg);

	if (!copy)
		return false;
	elf_file_close(*debug);
	*debug = copy;
	return true;
}
