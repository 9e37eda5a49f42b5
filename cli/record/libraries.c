/* libraries.c - which libraries the loader would map for a program. */
#include "cli/record/libraries.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/process/child.h"
#include "stitch/base/intern.h"
#include "stitch/files/path.h"
#include "symbolize/elf/elf.h"

#define LIBRARIES_MAX 1024

struct libraries {
	struct intern name; /* of the libraries looked for, from DT_NEEDED */
	struct intern path; /* of the libraries found */
	int bits;	  /* the program's ELFCLASS*; libraries must have it */
	uint16_t machine; /* the program's e_machine, likewise */
	bool asked;	  /* cache was filled */
	char cache[1 << 18]; /* "\tNAME (libc6,x86-64) => PATH" lines */
};

/* Folders where loaders look last: glibc's, and musl's without a path file. */
static const char library_default[] =
	"/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib";

static bool library_take(struct libraries *l, const char *path)
{
	struct elf_file *ef = elf_file_open(path, NULL);
	bool fits = ef && ef->machine == l->machine &&
		    gelf_getclass(ef->elf) == l->bits;

	elf_file_close(ef);
	if (fits)
		intern_add(&l->path, path);
	return fits;
}

/* Adds a library if it is in one of a list of folders, where $ORIGIN is that of
 * the file `from`. Returns whether it did. */
static bool library_in(struct libraries *l, const char *folders,
		       const char *from, const char *name)
{
	static const char *const origins[] = { "$ORIGIN", "${ORIGIN}" };

	for (const char *s = folders; s && *s; s += *s == ':') {
		int len = (int)strcspn(s, ":"), at = 0;
		char path[PATH_MAX * 2];

		for (size_t i = 0; i < ARRAY_SIZE(origins); i++)
			if (!strncmp(s, origins[i], strlen(origins[i])))
				at = (int)strlen(origins[i]);
		snprintf(path, sizeof(path), "%.*s%.*s/%s",
			 at ? (int)(path_base(from) - from) : 0, from, len - at,
			 s + at, name);
		if (len && library_take(l, path))
			return true;
		s += len;
	}
	return false;
}

/* Adds a library if it is in the cache of ldconfig(8). Returns whether. */
static bool library_in_cache(struct libraries *l, const char *name)
{
	static const char *const ldconfig[] = { "/sbin/ldconfig", "-p", NULL };
	size_t len = strlen(name);
	char path[PATH_MAX];

	if (!l->asked && child_ask(ldconfig, l->cache, sizeof(l->cache)))
		*l->cache = '\0';
	l->asked = true;
	for (const char *s = l->cache; (s = strchr(s, '\t'));) {
		const char *to = strstr(++s, " => ");

		if (to && !strncmp(s, name, len) && s[len] == ' ' &&
		    sscanf(to, " => %4095[^\n]", path) == 1 &&
		    library_take(l, path))
			return true;
	}
	return false;
}

/* Looks for the libraries that the file ef needs. inherited is the DT_RPATH of
 * program, which applies to its libraries too, or NULL. Returns the DT_RPATH of
 * ef, valid while ef is open, or NULL. */
static const char *libraries_needed(struct libraries *l,
				    const struct elf_file *ef,
				    const struct elf_file *program,
				    const char *inherited)
{
	const char *rpath = NULL, *runpath = NULL, *text;
	struct elf_section s;
	GElf_Dyn dyn;
	Elf_Data *d = elf_section_find(ef, ".dynamic", &s)
			      ? elf_section_data(&s)
			      : NULL;

	for (int i = 0; d && gelf_getdyn(d, i, &dyn) && dyn.d_tag; i++) {
		text = elf_strptr(ef->elf, s.link, dyn.d_un.d_val);
		if (dyn.d_tag == DT_RPATH)
			rpath = text;
		else if (dyn.d_tag == DT_RUNPATH)
			runpath = text;
	}
	if (runpath)
		rpath = inherited = NULL;
	for (int i = 0; d && gelf_getdyn(d, i, &dyn) && dyn.d_tag; i++) {
		size_t known = l->name.n;

		if (dyn.d_tag != DT_NEEDED || known >= LIBRARIES_MAX ||
		    !(text = elf_strptr(ef->elf, s.link, dyn.d_un.d_val)) ||
		    intern_add(&l->name, text) < known)
			continue;
		/* the loader itself runs only at the start */
		if (!fnmatch("ld*.so*", text, 0))
			continue;
		if (strchr(text, '/'))
			library_take(l, text);
		else if (!library_in(l, rpath, ef->path, text) &&
			 !library_in(l, inherited, program->path, text) &&
			 !library_in(l, getenv("LD_LIBRARY_PATH"), ef->path,
				     text) &&
			 !library_in(l, runpath, ef->path, text) &&
			 !library_in_cache(l, text))
			library_in(l, library_default, ef->path, text);
	}
	return rpath;
}

void libraries_of(const char *path, library_fn *fn, void *arg)
{
	struct elf_file *program = elf_file_open(path, NULL);
	struct libraries *l;
	const char *rpath;

	if (!program)
		return;
	l = mem_new(1, sizeof(*l));
	l->machine = program->machine;
	l->bits = gelf_getclass(program->elf);
	rpath = libraries_needed(l, program, program, NULL);
	for (uint32_t i = 0; i < l->path.n; i++) {
		const char *found = intern_get(&l->path, i);
		struct elf_file *ef = elf_file_open(found, NULL);

		fn(arg, found);
		if (ef)
			libraries_needed(l, ef, program, rpath);
		elf_file_close(ef);
	}
	intern_release(&l->name);
	intern_release(&l->path);
	free(l);
	elf_file_close(program);
}
