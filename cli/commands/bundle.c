/* bundle.c - the command that packs a database for someone else: with the files
 * that hold its symbols, or redacted. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/ingest/name.h"
#include "cli/open/input.h"
#include "cli/output/out.h"
#include "cli/output/say.h"
#include "cli/process/signals.h"
#include "formats/bundle.h"
#include "schema/columns.h"
#include "schema/read/redact.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/owned.h"
#include "stitch/files/new_file.h"
#include "stitch/files/path.h"
#include "stitch/tasks/frame.h"
#include "stitch/text/human.h"
#include "symbolize/disasm/code_bytes.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/locate.h"
#include "symbolize/names/section_hashes.h"
#include "symbolize/symbolize.h"

struct pack_opts {
	const char *out; /* NULL: named after the database */
	bool force;	 /* replace an existing file */
	bool redact, no_debug;
	const char *const *keep; /* with redact: globs of images */
	size_t n_keep;
	const struct name_ask *names; /* where programs are */
};

/* ---- which files may be packed
 *
 * The database may come from anybody, and the archive goes to others. A file is
 * packed only if it is an ELF file and is proved to be the recorded one, by its
 * build-id or, without one, by the hashes of its sections that were stored when
 * names were read; a debug file must also be where debug files are. */

/* A section proves a file if it has so many bytes: many files have the same
 * .interp or .comment. */
#define PROOF_MIN 256

/* Returns whether ef is proved to be the file of the image with that id. */
static bool pack_proof(struct store *db, int64_t id, const struct image *img,
		       const struct elf_file *ef)
{
	if (elf_same_id(ef->id, ef->id_len, img->id, img->id_len))
		return true;
	/* Compare the sections from which names were read. The file's folder
	 * may be another one, as with --symfs. */
	struct rows *r = ROWS_BY(db, "bundle_hashes", NULL, id);
	const char *base = path_base(ef->path);
	bool same = true;
	uint64_t largest = 0;

	while (same && rows_step(r)) {
		uint64_t size = 0;

		if (strcmp(path_base(rows_text(r, BUNDLE_HASHES_FILE)), base))
			continue;
		same = section_hashes_same(
			ef, rows_text(r, BUNDLE_HASHES_NAME),
			(uint64_t)rows_int(r, BUNDLE_HASHES_HASH), &size);
		largest = size > largest ? size : largest;
	}
	rows_close(r);
	return same && largest >= PROOF_MIN;
}

#define NAME_SIZE 8192

/* The archive being made. */
struct pack {
	const struct pack_opts *o;
	struct store *db;
	struct symbolizer *sy;
	struct bundle *b;
	char name[256];	     /* name of the database in the archive */
	char *copy;	     /* a copy of the database, until it is placed */
	struct image *image; /* images, by id */
	size_t n_image, cap_image;
	struct intern put; /* names in the archive */
	struct arena text;
	uint64_t files, bytes, missing, unproved;
	char example[256]; /* one of the missing files */
	char doubt[256];   /* one that may not be the recorded one */
};

/* Writes the path where --symfs finds a debug file by build-id. Returns false
 * if the image has no build-id. */
static bool pack_debug_name(const struct image *img, char *out, size_t size)
{
	if (img->id_len < 2)
		return false;
	size_t n = (size_t)snprintf(
		out, size, "symfs/usr/lib/debug/.build-id/%02x/", img->id[0]);
	for (size_t i = 1; i < img->id_len; i++)
		n += (size_t)snprintf(out + n, size - n, "%02x", img->id[i]);
	snprintf(out + n, size - n, ".debug");
	return true;
}

/* Adds a file, unless its name has ".." or is in the archive already. */
static int pack_put_file(struct pack *p, const char *name, int fd,
			 const char *path, struct err *err)
{
	size_t n = p->put.n;
	size_t len = strlen(name);

	if (strstr(name, "/../") ||
	    (len >= 3 && !strcmp(name + len - 3, "/..")) ||
	    intern_add(&p->put, name) < n)
		return 0;
	p->files++;
	return bundle_add_file(p->b, name, fd, path, &p->bytes, err);
}

/* Counts a file that is here, but may be another than the recorded one. */
static void pack_doubt(struct pack *p, const char *path)
{
	if (!p->unproved++)
		snprintf(p->doubt, sizeof(p->doubt), "%s", path);
}

/* Adds programs that are proved, and counts the others. Returns 0, or -1. */
static int pack_put_images(struct pack *p, struct err *err)
{
	struct rows *r = rows_dense(p->db, "bundle_images", err);

	while (rows_step(r)) {
		int64_t id = rows_int(r, BUNDLE_IMAGES_ID);
		struct image img = { 0 };
		char name[NAME_SIZE];
		struct identity_answer said;
		int rc = 0;

		if (stop_requested()) {
			err_set(err, ERR_STOPPED, "stopped");
			return rows_stop(r);
		}
		if (rows_int(r, BUNDLE_IMAGES_IS_FILE))
			rows_image(r, BUNDLE_IMAGES_KIND, &p->text, &img);
		*mem_add(p->image, p->n_image, p->cap_image) = img;
		if (!img.path)
			continue;
		struct elf_file *ef = code_bytes_find_file(p->sy, &img, &said);
		bool chosen = img.kind == IMAGE_KERNEL && p->o->names->vmlinux;
		snprintf(name, sizeof(name), "symfs%s",
			 img.kind == IMAGE_KERNEL ? "/vmlinux" : img.path);
		if (!ef && img.kind == IMAGE_FILE && !p->missing++)
			snprintf(p->example, sizeof(p->example), "%s",
				 img.path);
		else if (ef && !chosen &&
			 (said.is <= IDENTITY_DOUBTFUL ||
			  !pack_proof(p->db, id, &img, ef)))
			pack_doubt(p, ef->path);
		else if (ef)
			rc = pack_put_file(p, name, ef->fd, ef->path, err);
		elf_file_close(ef);
		if (rc)
			return rows_stop(r);
	}
	return rows_end(r, err);
}

/* Adds a README, the database and, unless it is redacted, files with code. */
static int pack_fill(struct pack *p, struct err *err)
{
	char readme[2048];
	char name[300];
	int head =
		snprintf(readme, sizeof(readme),
			 "%s.db is a database of backstitch: stacks of a "
			 "recording, with their names.\n\n"
			 "  backstitch info %s.db        what is in it\n"
			 "  backstitch report %s.db      what took the time\n"
			 "  backstitch flame -o a.svg %s.db\n",
			 p->name, p->name, p->name, p->name);
	if (!p->o->redact)
		snprintf(readme + head, sizeof(readme) - (size_t)head,
			 "\nBelow symfs are the programs that ran, for the "
			 "commands that look at code:\n\n"
			 "  backstitch annotate --symfs symfs %s.db FUNCTION\n",
			 p->name);
	if (bundle_add_text(p->b, "README", readme, err))
		return -1;
	int fd = open(p->copy, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, ERR_IO, "%s: %s", p->copy, strerror(errno));
	snprintf(name, sizeof(name), "%s.db", p->name);
	int rc = bundle_add_file(p->b, name, fd, p->copy, &p->bytes, err);
	close(fd);
	if (rc || bundle_add_sum(p->b, name, err))
		return -1;
	if (p->o->redact)
		return 0;
	*mem_add(p->image, p->n_image, p->cap_image) = (struct image){ 0 };
	if (pack_put_images(p, err))
		return -1;
	if (p->o->no_debug)
		return 0;
	/* Add the debug files from which names were read. */
	struct rows *r = rows_of(p->db, "bundle_sections", err);

	while (rows_step(r)) {
		size_t id = (size_t)rows_int(r, BUNDLE_SECTIONS_IMAGE);
		const char *path = rows_text(r, BUNDLE_SECTIONS_FILE);
		const char *symfs = p->o->names->symfs;
		size_t n = symfs ? strlen(symfs) : 0;

		while (n && symfs[n - 1] == '/')
			n--;
		const char *plain =
			n && !strncmp(path, symfs, n) && path[n] == '/'
				? path + n
				: path;
		struct elf_file *ef = NULL;
		char word[NAME_SIZE];

		if (id >= p->n_image || !p->image[id].path || *path != '/' ||
		    !strstr(plain, "debug") || access(path, R_OK))
			continue;
		const struct image *img = &p->image[id];
		if (locate_is_debug_place(p->sy, path, img->path))
			ef = elf_file_open(path, NULL);
		if (!ef || !pack_proof(p->db, (int64_t)id, img, ef)) {
			elf_file_close(ef);
			pack_doubt(p, path);
			continue;
		}
		if (strstr(plain, "/.dwz/") || !pack_debug_name(img, word, 256))
			snprintf(word, sizeof(word), "symfs%s", plain);
		int ret = pack_put_file(p, word, ef->fd, path, err);
		elf_file_close(ef);
		if (ret)
			return rows_stop(r);
	}
	return rows_end(r, err);
}

/* Copies the database and, if wanted, redacts the copy. No other user may read
 * it until then. Returns 0, or -1 and *err. */
static int pack_make_copy(struct pack *p, const char *out, struct err *err)
{
	const struct redact_opts o = { p->o->keep, p->o->n_keep };
	struct redact_counts counts;
	char *copy = new_file_temp(out, 0600);

	p->copy = copy;
	if (!copy)
		return err_set(err, ERR_IO, "%s: %s", out, strerror(errno));
	if (store_copy(p->db, copy, out, err))
		return -1;
	if (!p->o->redact)
		return 0;
	if (store_redact(copy, out, &o, &counts, err))
		return -1;
	say_note("%" PRIu64 " words replaced in %" PRIu64
		 " places; names of events, their numbers, and the kernel's "
		 "names stay\n",
		 counts.words, counts.values);
	return 0;
}

/* Writes the output, and prints what is in it. Returns 0, or -1 and *err. */
static int pack_make(struct pack *p, const char *out, struct err *err)
{
	/* archives that cannot be written */
	static const char *const others[] = { ".zip", ".7z",  ".bz2", ".tbz",
					      ".rar", ".txz", ".lz4" };
	const char *end = strrchr(out, '.');
	bool archive = bundle_is_name(out);

	if (end && any_where(ARRAY_SIZE(others), i, !strcmp(end, others[i])))
		return err_set(err, ERR_USAGE,
			       "%s: an archive is called .tar, .tar.gz, "
			       ".tar.xz or .tar.zst; any other name is of a "
			       "database",
			       out);
	/* Replace only a regular file, not a device or a link. */
	struct stat st;

	if (!lstat(out, &st)) {
		if (!S_ISREG(st.st_mode))
			return err_set(
				err, ERR_IO,
				"%s: is no regular file; a bundle needs one",
				out);
		if (!p->o->force)
			return err_set(err, ERR_IO,
				       "%s: exists; use -f to replace it", out);
		if (out_may_replace(out, !bundle_is_name(out), err))
			return -1;
	}
	if (pack_make_copy(p, out, err))
		return -1;
	if (!archive) {
		/* Give the copy the permissions of any other file. */
		mode_t mask = umask(0);

		umask(mask);
		if (chmod(p->copy, 0666 & ~mask))
			return err_set(err, ERR_IO, "%s: %s", out,
				       strerror(errno));
		int fd OWNED_FD = open(p->copy, O_RDONLY | O_CLOEXEC);
		int failed = fd < 0 || new_file_flush(fd) ? errno : 0;

		if (failed)
			return err_set(err, ERR_IO, "%s: %s", out,
				       strerror(failed));
		return new_file_place(&p->copy, out, p->o->force, err);
	}
	int rc = -1;

	p->b = bundle_create(out, p->o->force, err);
	if (!p->b)
		return -1;
	p->sy = name_symbolizer(p->o->names, p->db, NULL, NULL);
	if (!pack_fill(p, err))
		rc = bundle_finish(p->b, err);
	bundle_free(p->b);
	symbolize_free(p->sy);
	if (rc)
		return -1;
	say("%s: %s.db and %" PRIu64 " file%s of code, %s before packing\n",
	    out, p->name, p->files, p->files == 1 ? "" : "s",
	    HUMAN_BYTES(p->bytes));
	if (p->unproved)
		say_note("%" PRIu64 " file%s not packed, such as "
			 "'%s': no build-id or hash proves that it is what was "
			 "recorded\n",
			 p->unproved, p->unproved == 1 ? " is" : "s are",
			 p->doubt);
	if (p->missing)
		say_note(
			"%" PRIu64 " image%s not here, such as "
			"'%s'; 'backstitch bundle --symfs DIR' takes them from "
			"DIR\n",
			p->missing, p->missing == 1 ? " is" : "s are",
			p->example);
	return 0;
}

/* Writes an archive, or the database alone if the name of the output is not
 * that of an archive; path is where db was read from. Reports on stderr what
 * was packed. Returns 0, or -1 and *err. */
static int pack_write(struct store *db, const char *path,
		      const struct pack_opts *o, struct err *err)
{
	struct pack p = { .o = o, .db = db };
	char out[300];

	/* "dir/run.db" -> "run" */
	const char *base = path_base(path);
	const char *dot = strrchr(base, '.');
	size_t n = dot && dot != base ? (size_t)(dot - base) : strlen(base);

	if (!n || !strcmp(path, "-")) {
		base = "capture";
		n = strlen(base);
	}
	snprintf(p.name, sizeof(p.name), "%.*s", (int)(n < 200 ? n : 200),
		 base);
	snprintf(out, sizeof(out), o->redact ? "%s.redacted.db" : "%s.tar.gz",
		 p.name);
	int rc = pack_make(&p, o->out ? o->out : out, err);
	new_file_drop(p.copy);
	free(p.image);
	intern_release(&p.put);
	arena_release(&p.text);
	return rc;
}

static const char *out_path;
static bool force, redact, no_debug;
static struct opt_list keep;

static const struct opt opts[] = {
	OPT_HEADING("Output"),
	OPT_STRING(
		'o', "output", "FILE", &out_path,
		"an archive (.tar, .tar.gz, .tar.xz, .tar.zst), or any other "
		"name for the database alone"),
	OPT_FLAG('f', "force", &force, "replace FILE"),
	OPT_FLAG(0, "redact", &redact,
		 "replace paths, names and arguments by made-up words; adds no "
		 "files"),
	OPT_LIST(0, "keep", "GLOB", &keep,
		 "with --redact: leave images with such a path unchanged; may "
		 "be repeated"),
	OPT_FLAG(0, "no-debug-files", &no_debug,
		 "the programs themselves, but no debug files"),
	OPT_GROUP(ingest_opts),
	{ .kind = OPT_END }
};

static int bundle_run(int argc, char **argv, struct err *err)
{
	const struct open_ask ask = open_chosen();
	const struct pack_opts o = {
		.out = out_path,
		.force = force,
		.redact = redact,
		.no_debug = no_debug,
		.keep = keep.item,
		.n_keep = keep.n,
		.names = &ask.load.name,
	};
	int status = STATUS_OK;
	const char *path;

	if (out_path && !strcmp(out_path, "-"))
		return err_set(err, ERR_USAGE,
			       "a bundle is a file; -o needs its name");
	if (keep.n && !redact)
		return err_set(err, ERR_USAGE, "--keep is for --redact");
	if (name_check(o.names, err))
		return -1;
	struct store *db OWNED_STORE = database_from_args(
		&ask, argc, argv, out_path, &path, &status, err);
	if (!db)
		return -1;
	return pack_write(db, path, &o, err) ? -1 : status;
}

const struct command cmd_bundle = {
	.name = "bundle",
	.args = "[options] [DB | CAPTURE]",
	.summary = "pack a database for somebody else",
	.examples = { "backstitch bundle perf.db",
		      "backstitch bundle --redact --keep '/usr/lib/*' -o public.db perf.db" },
	.opts = opts,
	.common = "output force redact keep no-debug-files symfs input",
	.run = bundle_run,
};
