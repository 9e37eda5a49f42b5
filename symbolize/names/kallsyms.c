/* kallsyms.c - finds names of the kernel and its modules in /proc/kallsyms or a
 * copy of it.
 *
 * The file is read whole (5 MB, 190,000 lines) and split into names in place.
 * Its addresses are absolute. The kernel is relocated at each boot, so
 * addresses of another boot are shifted by the difference of the two _text
 * symbols. */
#include "symbolize/symbolizer_cache.h"
#include "symbolize/report.h"
#include "symbolize/symbolizer.h"

#include <errno.h>
#include <unistd.h>

#include "stitch/base/err.h"
#include "stitch/base/kallsyms_text.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "stitch/files/named_file.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/locate.h"
#include "symbolize/files/kernel_module.h"
#include "symbolize/elf/symtab.h"
#include "symbolize/names/live_modules.h"

#define FILE_MAX ((size_t)512 * 1024 * 1024)
#define MODULES_MAX 65535
#define NOTES_MAX 65536
/* Just below the average line length of 45 bytes. */
#define LINE_LEN 40
/* The kernel limits module names to 56 bytes. */
#define NAME_SIZE 64
#define LIVE "/proc/kallsyms"
#define MODULES "/proc/modules"
#define MODULE_FOLDERS "/sys/module"
/* Only this much of the live file is compared, which takes the kernel 0.1 ms
 * instead of 30: enough to show whether addresses are still readable. */
#define HEAD ((size_t)4096)

struct kallsyms {
	struct tried_files tried; /* the file, if not the live one */
	char *head;		  /* of the live file: its first bytes */
	/* The live file, as an earlier symbolizer read it: a symbol of it is
	 * used only if kallsyms_is_fixed() shows that it did not change. */
	bool from_before;
	/* The modules that were loaded when it was read, see live_modules.h;
	 * NULL: unknown, or others are loaded now. */
	char *modules;
	char *path;
	char *text; /* names point into it */
	struct symtab tab;
	const char **mod; /* module names; index 0 is the kernel */
	size_t n_mod, cap_mod;
	uint64_t at_text; /* address of _text; 0: unknown */
	uint64_t at_stext;
};

struct kallsyms_names {
	struct symbolizer *sy;
	const struct kallsyms *ks;
	uint64_t start; /* recorded address of the image */
	uint64_t shift; /* file's address - recorded address */
	int mod;	/* module number; -1: any symbol */
	bool listed;	/* the module is one of ks->modules */
};

/* Returns the contents of a file with a NUL after them, for the caller to free,
 * or NULL and *err. */
static char *kallsyms_read_file(const char *path, size_t *len, struct err *err)
{
	char *buf = NULL;
	size_t cap = 0;
	size_t n = 0;
	uint64_t size;
	ssize_t got;
	int fd = named_file_open_any(path, &size, err);

	if (fd < 0)
		return NULL;
	/* Files in /proc report a size of 0. */
	if (size && size < FILE_MAX)
		mem_grow(buf, cap, (size_t)size + 2);
	do {
		mem_grow(buf, cap, n + 4096);
		got = read(fd, buf + n, cap - n - 1);
		if (got > 0)
			n += (size_t)got;
	} while (got > 0 && n < FILE_MAX);
	if (got < 0)
		err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	else if (got > 0)
		err_set(err, ERR_LIMIT, "%s: more than %zu MiB", path,
			FILE_MAX >> 20);
	close(fd);
	if (got) {
		free(buf);
		return NULL;
	}
	buf[n] = '\0';
	*len = n;
	return buf;
}

static bool kallsyms_ends(const struct kallsyms_line *l, const char *tail)
{
	const size_t n = strlen(tail);

	return l->name_len > n && !memcmp(l->name + l->name_len - n, tail, n);
}

static bool kallsyms_begins(const struct kallsyms_line *l, const char *head)
{
	const size_t n = strlen(head);

	return l->name_len >= n && !memcmp(l->name, head, n);
}

/* Returns true for symbols that mark the start or end of a region. If a
 * function has the same address, the function names it. */
static bool kallsyms_is_marker(const struct kallsyms_line *l)
{
	static const char *const word[] = {
		"_text",      "_stext", "_etext", "_sinittext",
		"_einittext", "_sdata", "_edata", "__pi__text",
	};

	if (l->name[0] != '_')
		return false;
	/* half of a kernel's names begin with '_' */
	const bool may = kallsyms_ends(l, "text") || kallsyms_ends(l, "data");

	for (size_t i = 0; may && i < ARRAY_SIZE(word); i++)
		if (kallsyms_line_is(l, word[i]))
			return true;
	return kallsyms_ends(l, "_text_end") ||
	       kallsyms_ends(l, "_text_start") ||
	       kallsyms_begins(l, "__start_") || kallsyms_begins(l, "__stop_");
}

/* Returns the number of a module. Searches backwards: the lines of a module are
 * adjacent. */
static uint16_t kallsyms_module_number(struct kallsyms *ks, const char *name)
{
	for (size_t i = ks->n_mod; i-- > 1;)
		if (!strcmp(ks->mod[i], name))
			return (uint16_t)i;
	if (ks->n_mod >= MODULES_MAX)
		return MODULES_MAX;
	*mem_add(ks->mod, ks->n_mod, ks->cap_mod) = name;
	return (uint16_t)ks->n_mod - 1;
}

/* Terminates a part of a line, which is followed by a tab, a bracket, the end
 * of the line or that of the text. */
static const char *kallsyms_string(struct kallsyms *ks, const char *s, size_t n)
{
	char *own = ks->text + (s - ks->text);

	own[n] = '\0';
	return own;
}

/* Takes ownership of text, which is followed by a NUL. */
static struct kallsyms *kallsyms_parse(const char *path, char *text, size_t len)
{
	struct kallsyms *ks = mem_new(1, sizeof(*ks));
	struct kallsyms_text t = { .at = text, .left = len };
	struct kallsyms_line l;

	ks->path = mem_strdup(path);
	ks->text = text;
	/* Symbols of equal rank are all correct names of their address. The
	 * last in the file wins, which is what perf shows (__x64_sys_vfork
	 * follows __do_sys_vfork and __ia32_sys_vfork). */
	ks->tab.last_wins = true;
	ks->mod = mem_grow_to(NULL, &ks->cap_mod, 1, sizeof(*ks->mod));
	ks->mod[ks->n_mod++] = "";
	mem_grow(ks->tab.sym, ks->tab.cap, len / LINE_LEN + 1);
	while (kallsyms_text_next(&t, &l)) {
		struct sym s = { .start = l.addr,
				 .end = UINT64_MAX,
				 .open = true,
				 .rank = SYM_SIZED,
				 .how = "kallsyms" };

		/* Assembler symbols: $a, $d, $x. */
		if (l.name[0] == '$' || !l.name[0])
			continue;
		if (kallsyms_line_is_code(&l))
			s.rank |= SYM_TYPED;
		if (!kallsyms_is_marker(&l))
			s.rank |= SYM_REAL;
		if (l.module_len)
			s.mod = kallsyms_module_number(
				ks,
				kallsyms_string(ks, l.module, l.module_len));
		else if (kallsyms_line_is(&l, "_text"))
			ks->at_text = s.start;
		else if (kallsyms_line_is(&l, "_stext"))
			ks->at_stext = s.start;
		s.name = kallsyms_string(ks, l.name, l.name_len);
		symtab_add(&ks->tab, &s);
	}
	symtab_finish(&ks->tab);
	/* The last symbol of the kernel must not extend to the first module,
	 * far after it. */
	for (size_t i = 0; i < ks->tab.n; i++) {
		struct sym *s = &ks->tab.sym[i];
		uint64_t last = elf_page_floor(s->start) + 2 * ELF_PAGE;

		if (i + 1 < ks->tab.n && s[1].mod == s->mod)
			continue;
		if (last > s->start && last < s->end)
			s->end = last;
	}
	return ks;
}

static struct kallsyms *kallsyms_new(const struct symbolizer *sy,
				     const char *path, struct err *err)
{
	size_t len;
	uint64_t size;
	char *text = NULL;
	int fd = sy->opts.unpack ? named_file_open_any(path, &size, NULL) : -1;

	/* only a file compressed by gzip or zstd has another text than its
	 * bytes */
	if (fd >= 0) {
		unsigned char *plain OWNED =
			sy->opts.unpack(fd, path, FILE_MAX, &len);

		text = plain ? mem_dup(plain, len) : NULL;
		close(fd);
	}
	if (!text)
		text = kallsyms_read_file(path, &len, err);
	if (!text)
		return NULL;
	char *head = len >= HEAD ? mem_dup(text, HEAD) : NULL;
	struct kallsyms *ks = kallsyms_parse(path, text, len);

	ks->head = head;
	return ks;
}

void kallsyms_free(struct kallsyms *ks)
{
	if (!ks)
		return;
	tried_files_release(&ks->tried);
	symtab_release(&ks->tab);
	free_all(ks->head, ks->modules, ks->mod, ks->text, ks->path, ks);
}

/* ---- files of earlier symbolizers
 *
 * A copy is reused if its file is unchanged. Each read of the live file
 * generates it again, which takes 30 ms; only its beginning is compared. So
 * what an earlier symbolizer read of it is `from_before`, and
 * kallsyms_is_fixed() judges each symbol when it is looked up: one of the
 * kernel itself is valid until the next boot, one of a module as long as no
 * module was loaded or removed, any other may be wrong. `modules` shows that:
 * it is the list of modules, if it was the same before and after the file was
 * read, and becomes NULL when the list has changed. The first symbol or module
 * that may be wrong makes kallsyms_renew() read the file again, and that result
 * is not from before. */

static void kallsyms_free_kept(void *object)
{
	kallsyms_free(object);
}

static void kallsyms_name_kept(const char *path, char name[PATH_SIZE + 16])
{
	snprintf(name, PATH_SIZE + 16, "kallsyms %.4000s", path);
}

static bool kallsyms_is_live(const struct kallsyms *ks)
{
	return !strcmp(ks->path, LIVE);
}

static bool kallsyms_begins_same(const struct kallsyms *ks)
{
	char head[HEAD];
	size_t n = 0;
	ssize_t got;
	uint64_t size;
	int fd = named_file_open_any(ks->path, &size, NULL);

	if (fd < 0)
		return false;
	do {
		got = read(fd, head + n, HEAD - n);
		if (got > 0)
			n += (size_t)got;
	} while (got > 0 && n < HEAD);
	close(fd);
	return n == HEAD && !memcmp(head, ks->head, HEAD);
}

/* Reads the live file, and the list of modules. */
static struct kallsyms *kallsyms_new_live(struct symbolizer *sy)
{
	char *before OWNED = live_modules_read(MODULES, MODULE_FOLDERS);
	struct kallsyms *ks = kallsyms_new(sy, LIVE, NULL);
	char *after OWNED =
		ks ? live_modules_read(MODULES, MODULE_FOLDERS) : NULL;

	if (before && after && !strcmp(before, after)) {
		ks->modules = after;
		after = NULL;
	}
	return ks;
}

/* Reads a file, or reuses what an earlier symbolizer read if the file is the
 * same. Of the live file only the symbols of the kernel itself are then
 * certain, see kallsyms_is_fixed(). */
static struct kallsyms *kallsyms_get(struct symbolizer *sy, const char *path,
				     struct err *err)
{
	char name[PATH_SIZE + 16];
	struct tried_files tried = { .n = 0 };

	if (!sy->opts.kept)
		return kallsyms_new(sy, path, err);
	kallsyms_name_kept(path, name);
	struct kallsyms *ks = symbolizer_cache_take(sy->opts.kept, name);

	if (ks && (kallsyms_is_live(ks) ? kallsyms_begins_same(ks)
					: tried_files_unchanged(&ks->tried))) {
		if (!kallsyms_is_live(ks))
			return ks;
		/* the modules may be others now */
		char *now OWNED =
			ks->modules ? live_modules_read(MODULES, MODULE_FOLDERS)
				    : NULL;

		ks->from_before = true;
		if (!now || strcmp(now, ks->modules) != 0) {
			free(ks->modules);
			ks->modules = NULL;
		}
		return ks;
	}
	kallsyms_free(ks);
	if (!strcmp(path, LIVE))
		return kallsyms_new_live(sy);
	tried_files_add(&tried, path);
	ks = kallsyms_new(sy, path, err);
	if (ks)
		ks->tried = tried;
	else
		tried_files_release(&tried);
	return ks;
}

void kallsyms_leave(struct symbolizer *sy, struct kallsyms *ks)
{
	char name[PATH_SIZE + 16];

	if (!ks || !sy->opts.kept ||
	    (kallsyms_is_live(ks) ? !ks->head : ks->tried.young)) {
		kallsyms_free(ks);
		return;
	}
	kallsyms_name_kept(ks->path, name);
	symbolizer_cache_give(sy->opts.kept, name, ks, kallsyms_free_kept);
}

/* Reads the live file again, if an earlier symbolizer read it. Returns false if
 * that fails. Names of the earlier one stay valid. */
static bool kallsyms_renew(struct symbolizer *sy)
{
	if (!sy->ks_live || !sy->ks_live->from_before)
		return sy->ks_live;
	sy->ks_replaced = sy->ks_live;
	sy->ks_live = kallsyms_new_live(sy);
	return sy->ks_live;
}

/* Returns whether a symbol of an earlier symbolizer is still right: it is in
 * the kernel itself, which does not change until the next boot, or in a module
 * that is still the same, and it is not the last one there, which a symbol of
 * something else may follow: BPF programs and trampolines come and go. Symbols
 * of per-CPU data have low addresses. */
static bool kallsyms_is_fixed(const struct kallsyms_names *kn,
			      const struct sym *s)
{
	const struct kallsyms *ks = kn->ks;
	uint64_t text = ks->at_text ? ks->at_text : ks->at_stext;

	if (!s || s + 1 >= ks->tab.sym + ks->tab.n || s[1].mod != s->mod)
		return false;
	return s->mod ? kn->listed && s->mod == kn->mod
		      : text && s->start >= text;
}

/* Returns whether the module of an image has not changed since a file from
 * before was read. */
static bool kallsyms_is_listed(const struct kallsyms *ks,
			       const struct image *img)
{
	char name[NAME_SIZE];

	return img->kind == IMAGE_MODULE && ks->from_before && ks->modules &&
	       kernel_module_name(img->path, name, sizeof(name)) &&
	       live_modules_has(ks->modules, name);
}

/* Finds the image in this file. Returns 1, or 0 if it is not there. */
static int kallsyms_place_module(struct kallsyms_names *kn,
				 const struct image *img)
{
	const struct kallsyms *ks = kn->ks;
	const struct sym *first = NULL;
	char name[NAME_SIZE];

	if (!kernel_module_name(img->path, name, sizeof(name)))
		return 0;
	for (size_t i = 1; i < ks->n_mod && kn->mod <= 0; i++)
		if (!strcmp(ks->mod[i], name))
			kn->mod = (int)i;
	for (size_t i = 0; i < ks->tab.n && kn->mod > 0 && !first; i++)
		if (ks->tab.sym[i].mod == kn->mod &&
		    ks->tab.sym[i].rank & SYM_TYPED)
			first = &ks->tab.sym[i];
	if (!first)
		return 0;
	/* a module's first function is in the first page of its code */
	if (first->start < img->start || first->start - img->start >= img->len)
		kn->shift = elf_page_floor(first->start) - img->start;
	return 1;
}

static int kallsyms_place_kernel(struct kallsyms_names *kn,
				 const struct image *img)
{
	const struct kallsyms *ks = kn->ks;
	uint64_t text = ks->at_text ? ks->at_text : ks->at_stext;

	if (text && img->start && img->start != text &&
	    img->start != ks->at_stext)
		kn->shift = text - img->start;
	return ks->tab.n > 0;
}

static int kallsyms_open_with(struct symbolizer *sy, const struct image *img,
			      const struct kallsyms *ks, void **r)
{
	struct kallsyms_names kn = {
		.sy = sy, .ks = ks, .start = img->start, .mod = -1
	};
	int ok = img->kind == IMAGE_MODULE ? kallsyms_place_module(&kn, img)
					   : kallsyms_place_kernel(&kn, img);

	kn.listed = kallsyms_is_listed(ks, img);
	report_file(sy, ks->path);
	report_status(sy, !ok	     ? IMAGE_NO_SYMBOLS
			  : kn.shift ? IMAGE_UNVERIFIED
				     : IMAGE_NAMED);
	if (!ok)
		return 0;
	*r = mem_dup(&kn, sizeof(kn));
	return 1;
}

static bool kallsyms_names_image(const struct image *img)
{
	return img->kind == IMAGE_KERNEL || img->kind == IMAGE_MODULE;
}

static int kallsyms_open_file(struct symbolizer *sy, const struct image *img,
			      const char *file UNUSED, void **r,
			      struct err *err)
{
	if (!kallsyms_names_image(img) || !sy->opts.kallsyms)
		return 0;
	/* the user named this file, so failing to read it is an error */
	tried_files_add(sy->tried, sy->opts.kallsyms);
	if (!sy->ks_file)
		sy->ks_file = kallsyms_get(sy, sy->opts.kallsyms, err);
	if (!sy->ks_file)
		return -1;
	if (!sy->ks_file->tab.n)
		return err_set(err, ERR_FORMAT,
			       "%s: no symbols with addresses, needs a "
			       "copy of /proc/kallsyms made as root, plain or "
			       "packed by gzip or zstd",
			       sy->opts.kallsyms);
	return kallsyms_open_with(sy, img, sy->ks_file, r);
}

/* Returns true if the kernel or module is at its recorded address, which is
 * rare after a reboot. */
static bool kallsyms_same_address(const struct image *img,
				  const struct kallsyms *ks)
{
	struct kallsyms_names kn = { .ks = ks, .start = img->start, .mod = -1 };

	if (!img->start)
		return false;
	if (img->kind == IMAGE_MODULE)
		return kallsyms_place_module(&kn, img) && !kn.shift;
	return kallsyms_place_kernel(&kn, img) && !kn.shift;
}

/* trace-cmd stores a copy in the capture, taken in the same boot, so addresses
 * match. A trimmed copy has no _text; then the image starts in the page of its
 * first function. */
static bool kallsyms_matches_capture(const struct image *img,
				     const struct kallsyms *ks)
{
	if (!kallsyms_same_address(img, ks))
		return false;
	if (img->kind == IMAGE_MODULE || ks->at_text || ks->at_stext)
		return true;
	const struct sym *s =
		symtab_find(&ks->tab, img->start | (ELF_PAGE - 1));

	return s && s->start >= img->start;
}

static int kallsyms_open_captured(struct symbolizer *sy,
				  const struct image *img,
				  const char *file UNUSED, void **r,
				  struct err *err UNUSED)
{
	const struct symbolize_text *list = sy->opts.captured;

	if (!kallsyms_names_image(img) || sy->opts.kallsyms || !list)
		return 0;
	while (list[sy->n_captured].text) {
		const struct symbolize_text *t = &list[sy->n_captured];

		*mem_add(sy->ks_captured, sy->n_captured, sy->cap_captured) =
			kallsyms_parse(t->path, mem_dup(t->text, t->len),
				       t->len);
	}
	for (size_t i = 0; i < sy->n_captured; i++)
		if (kallsyms_matches_capture(img, sy->ks_captured[i]))
			return kallsyms_open_with(sy, img, sy->ks_captured[i],
						  r);
	return 0;
}

/* perf caches a copy under the kernel's build-id. Modules have build-ids of
 * their own, so only the kernel itself is looked up. */
static int kallsyms_open_cache(struct symbolizer *sy, const struct image *img,
			       const char *file UNUSED, void **r,
			       struct err *err UNUSED)
{
	struct places p = { .tried = sy->tried };

	if (img->kind != IMAGE_KERNEL || sy->opts.kallsyms)
		return 0;
	kallsyms_leave(sy, sy->ks_cache);
	sy->ks_cache = NULL;
	locate_kallsyms(sy, img, &p);
	if (p.n)
		sy->ks_cache = kallsyms_get(sy, p.path[0], NULL);
	places_release(&p);
	if (!sy->ks_cache || !sy->ks_cache->tab.n)
		return 0;
	int rc = kallsyms_open_with(sy, img, sy->ks_cache, r);
	/* Proved by the build-id, even if the kernel was relocated. */
	if (rc)
		report_status(sy, IMAGE_NAMED);
	return rc;
}

bool kallsyms_runs_here(const struct image *img)
{
	char path[NAME_SIZE + 64] = "/sys/kernel/notes";
	char name[NAME_SIZE];
	uint8_t id[20];
	size_t len;

	if (img->kind == IMAGE_MODULE) {
		if (!kernel_module_name(img->path, name, sizeof(name)))
			return false;
		snprintf(path, sizeof(path),
			 "/sys/module/%s/notes/.note.gnu.build-id", name);
	}
	char *notes OWNED = kallsyms_read_file(path, &len, NULL);
	if (!notes)
		return false;
	size_t n = len <= NOTES_MAX ? elf_note_id(notes, len, false, id) : 0;
	return n && elf_same_id(id, n, img->id, img->id_len);
}

static int kallsyms_open_live(struct symbolizer *sy, const struct image *img,
			      const char *file UNUSED, void **r,
			      struct err *err UNUSED)
{
	if (!kallsyms_names_image(img) || sy->opts.kallsyms || sy->opts.no_live)
		return 0;
	/* perf in pipe mode, perf record -q -z and others record no build-id */
	if (img->id_len ? !kallsyms_runs_here(img) : !sy->opts.same_machine)
		return 0;
	bool fixed = img->kind == IMAGE_KERNEL && img->id_len;

	if (!fixed)
		tried_files_add(sy->tried, LIVE);
	if (!sy->tried_live) {
		sy->tried_live = true;
		sy->ks_live = kallsyms_get(sy, LIVE, NULL);
	}
	if (img->kind == IMAGE_MODULE && sy->ks_live &&
	    sy->ks_live->from_before && !kallsyms_is_listed(sy->ks_live, img) &&
	    !kallsyms_renew(sy))
		return 0;
	/* With kptr_restrict all addresses are 0, and such symbols are
	 * dropped. */
	int rc = sy->ks_live && sy->ks_live->tab.n &&
		 (img->id_len || kallsyms_same_address(img, sy->ks_live)) &&
		 kallsyms_open_with(sy, img, sy->ks_live, r);

	/* The names of the kernel itself depend only on its build-id; an
	 * address without a name may get one later. */
	if (!rc && fixed)
		tried_files_add(sy->tried, LIVE);
	if (rc)
		report_status(sy, img->id_len ? IMAGE_NAMED : IMAGE_UNVERIFIED);
	return rc;
}

static int kallsyms_resolve(void *r, uint64_t off, struct symbol *sym)
{
	struct kallsyms_names *kn = r;
	uint64_t addr = kn->start + off + kn->shift;
	const struct sym *s = symtab_find(&kn->ks->tab, addr);

	if (kn->ks->from_before && !kallsyms_is_fixed(kn, s)) {
		if (!kallsyms_renew(kn->sy))
			return 0;
		kn->ks = kn->sy->ks_live;
		s = symtab_find(&kn->ks->tab, addr);
	}
	/* BPF programs and trampolines come and go */
	if (kn->mod <= 0 && kallsyms_is_live(kn->ks) &&
	    !kallsyms_is_fixed(kn, s))
		tried_files_add(kn->sy->tried, LIVE);
	if (!s || (kn->mod > 0 && s->mod != kn->mod))
		return 0;
	sym->start = off - (addr - s->start);
	sym->size = s->end == UINT64_MAX ? 0 : s->end - s->start;
	sym->raw_name = s->name;
	sym->how = s->how;
	return 1;
}

#define KALLSYMS_RESOLVER(opens)                                               \
	{                                                                      \
		.open = opens, .resolve = kallsyms_resolve, .close = free      \
	}

const struct resolver resolve_kallsyms_file =
	KALLSYMS_RESOLVER(kallsyms_open_file);
const struct resolver resolve_kallsyms_captured =
	KALLSYMS_RESOLVER(kallsyms_open_captured);
const struct resolver resolve_kallsyms_cache =
	KALLSYMS_RESOLVER(kallsyms_open_cache);
const struct resolver resolve_kallsyms_live =
	KALLSYMS_RESOLVER(kallsyms_open_live);
