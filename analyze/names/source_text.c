/* source_text.c - the lines of source files that debug information names. */
#include "analyze/names/source_text.h"

#include <sys/stat.h>

#include "stitch/text/safe_text.h"
#include "stitch/base/md5.h"
#include "stitch/base/mem.h"
#include "stitch/files/named_file.h"
#include "stitch/files/path.h"

#define SIZE_MAX_TEXT ((uint64_t)8 << 20)
#define LINE_MAX_TEXT 400 /* bytes of a line that are kept */
#define PATH_MAX_TEXT 4096
#define TAB 8

/* A path that was looked up, and what its file was compared with. */
struct source_entry {
	struct source_file f;
	uint8_t md5[MD5_SIZE];
	bool has_md5;
	int64_t built;
	uint32_t last;
};

struct sources {
	struct source_entry **entry;
	size_t n, cap;
	struct arena text;
	const char *const *dir;
	size_t n_dir;
	bool shared;
};

struct sources *sources_new(const char *const *dir, size_t n, bool shared)
{
	struct sources *s = mem_new(1, sizeof(*s));

	s->dir = dir;
	s->n_dir = n;
	s->shared = shared;
	return s;
}

static void source_forget(struct source_file *f)
{
	free(f->line);
	f->line = NULL;
	f->n_line = 0;
	f->found = NULL;
}

void sources_free(struct sources *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		source_forget(&s->entry[i]->f);
		free(s->entry[i]);
	}
	free(s->entry);
	arena_release(&s->text);
	free(s);
}

/* Returns whether a file of this name may be shown: a hostile program could
 * name any file as its source. */
static bool source_is_source(const char *path)
{
	static const char *const end[] = {
		"c",   "h",   "C",   "H",   "cc",  "hh",   "cpp",   "hpp",
		"cxx", "hxx", "c++", "inc", "inl", "ipp",  "tcc",   "S",
		"s",   "asm", "l",   "y",   "ll",  "yy",   "rs",    "go",
		"d",   "f",   "F",   "f90", "F90", "f95",  "ada",   "adb",
		"ads", "zig", "nim", "v",   "m",   "mm",   "swift", "kt",
		"hs",  "ml",  "mli", "pas", "pp",  "java", "cu",    "cl",
		"def", "py",  "js",  "ts",  "lua", "rb",   "pl",    "cr",
	};
	const char *dot = strrchr(path_base(path), '.');

	return dot && any_where(ARRAY_SIZE(end), i, !strcmp(dot + 1, end[i]));
}

/* Writes the path without ".", ".." and double slashes, so that no part of it
 * leads out of a folder. Returns false if it is too long or has no name. */
static bool source_plain_path(const char *path, char out[PATH_MAX_TEXT])
{
	size_t len = 0;

	out[0] = '\0';
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && !strncmp(path, "..", 2)) {
			while (len && out[len - 1] != '/')
				len--;
			len -= len > 0;
		} else if (n && !(n == 1 && *path == '.')) {
			if (len + n + 2 > PATH_MAX_TEXT)
				return false;
			out[len++] = '/';
			memcpy(out + len, path, n);
			len += n;
		}
		out[len] = '\0';
		path += n + (path[n] == '/');
	}
	return len > 0;
}

/* Stores the lines of a file with tabs as spaces, cut to LINE_MAX_TEXT. */
static void source_split(struct sources *s, struct source_file *f,
			 const char *text, size_t len)
{
	size_t lines = 1;

	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	f->line = mem_new(lines, sizeof(*f->line));
	for (const char *next; len; text = next) {
		const char *end = memchr(text, '\n', len);
		size_t part = end ? (size_t)(end - text) : len;
		char buf[LINE_MAX_TEXT * 2];
		size_t n = 0;

		next = text + part + (end != NULL);
		len -= (size_t)(next - text);
		if (part && text[part - 1] == '\r')
			part--;
		if (part > LINE_MAX_TEXT)
			part = safe_text_part(text, part, LINE_MAX_TEXT - 4);
		for (size_t i = 0; i < part && n + TAB < sizeof(buf); i++) {
			if (text[i] != '\t') {
				buf[n++] = text[i];
				continue;
			}
			do
				buf[n++] = ' ';
			while (n % TAB);
		}
		buf[n] = '\0';
		f->line[f->n_line++] = arena_strdup(&s->text, buf);
	}
}

/* Returns why the file is believed to be the one that was compiled, or NULL and
 * *why it is not. given: it is in a folder that the user named. */
static const char *source_judge(const struct sources *s,
				const struct source_proof *p, int64_t written,
				bool given, const char *text, size_t len,
				const char **why)
{
	uint8_t md5[MD5_SIZE];

	if (memchr(text, '\0', len)) {
		*why = "is no text";
		return NULL;
	}
	if (p->md5) {
		md5_of(text, len, md5);
		*why = "has another MD5 than the compiled file";
		return !memcmp(md5, p->md5, MD5_SIZE) ? "MD5 as recorded"
						      : NULL;
	}
	*why = "has no MD5 in the program; --source-dir shows it anyway";
	if (s->shared && !given)
		return NULL;
	if (p->built && written <= p->built)
		return "not newer than the program, which has no MD5 of it: "
		       "not proved";
	*why = "is newer than the program; --source-dir shows it anyway";
	return given ? "newer than the program: lines may differ" : NULL;
}

static bool source_is_letter(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z') || c == '_';
}

/* Returns whether a line has a name as a word. */
static bool source_has(const char *line, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = line; (at = strstr(at, name)); at += n)
		if ((at == line || !source_is_letter(at[-1])) &&
		    !source_is_letter(at[n]))
			return true;
	return false;
}

/* Returns whether more functions are only elsewhere in the file than at the
 * line that declares them. Names that macros make are at no line. */
static bool source_is_moved(const struct source_file *f,
			    const struct source_proof *p)
{
	size_t there = 0;
	size_t moved = 0;

	for (size_t i = 0; i < p->n_declared; i++) {
		const struct source_name *d = &p->declared[i];
		const char *line = source_line(f, d->line);

		if (line && source_has(line, d->name))
			there++;
		else
			moved += any_where(f->n_line, k,
					   source_has(f->line[k], d->name));
	}
	return moved > there;
}

/* Reads a file and, if it is the one that was compiled, stores its lines.
 * Returns whether it is; else f->how is the reason, if the file can be read. */
static bool source_try(struct sources *s, struct source_file *f,
		       const char *path, bool given,
		       const struct source_proof *p)
{
	const char *why = NULL;
	struct stat st;
	size_t len = 0;
	char *text OWNED = stat(path, &st)
				   ? NULL
				   : named_file_load(path, SIZE_MAX_TEXT, &len);

	if (!text)
		return false;
	f->how = source_judge(s, p, st.st_mtim.tv_sec, given, text, len, &why);
	if (f->how) {
		source_split(s, f, text, len);
		f->found = arena_strdup(&s->text, path);
		why = f->n_line < p->last
			      ? "has fewer lines than the compiled file"
		      : !p->md5 && source_is_moved(f, p)
			      ? "has its functions at other lines than the "
				"compiled file"
			      : NULL;
		if (why) {
			source_forget(f);
			f->how = NULL;
		}
	}
	if (!f->how)
		f->how = why;
	return f->found;
}

/* Reads the file below each folder by its whole path, then by shorter ends of
 * it, as the folder may be that of the project, or any within; then the path
 * itself, if it is absolute. */
static void source_find(struct sources *s, struct source_file *f,
			const struct source_proof *p)
{
	char plain[PATH_MAX_TEXT];
	char path[2 * PATH_MAX_TEXT];

	f->how = SOURCE_NOT_FOUND;
	if (!source_is_source(f->path) || !source_plain_path(f->path, plain)) {
		f->how = "has not the name of a source file";
		return;
	}
	for (size_t i = 0; i < s->n_dir; i++) {
		for (const char *tail = plain; tail;
		     tail = strchr(tail + 1, '/')) {
			snprintf(path, sizeof(path), "%s%s", s->dir[i], tail);
			if (source_try(s, f, path, true, p))
				return;
		}
	}
	if (f->path[0] == '/')
		source_try(s, f, f->path, false, p);
}

const struct source_file *sources_get(struct sources *s, const char *path,
				      const struct source_proof *p)
{
	struct source_entry *e = NULL;

	for (size_t i = 0; i < s->n && !e; i++)
		if (strcmp(s->entry[i]->f.path, path) == 0 &&
		    s->entry[i]->has_md5 == (p->md5 != NULL) &&
		    (p->md5 ? !memcmp(s->entry[i]->md5, p->md5, MD5_SIZE)
			    : s->entry[i]->built == p->built))
			e = s->entry[i];
	if (e && p->last <= e->last)
		return &e->f;
	if (!e) {
		e = mem_new(1, sizeof(*e));
		*mem_add(s->entry, s->n, s->cap) = e;
		e->f.path = arena_strdup(&s->text, path);
		if (p->md5)
			memcpy(e->md5, p->md5, MD5_SIZE);
		e->has_md5 = p->md5 != NULL;
		e->built = p->built;
		e->last = p->last;
		source_find(s, &e->f, p);
		return &e->f;
	}
	e->last = p->last;
	if (e->f.found && e->f.n_line < p->last) {
		source_forget(&e->f);
		e->f.how = "has fewer lines than the compiled file";
	}
	return &e->f;
}

const char *source_line(const struct source_file *f, uint32_t line)
{
	return f && f->found && line && line <= f->n_line ? f->line[line - 1]
							  : NULL;
}
