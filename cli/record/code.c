/* code.c - the code that a program or process runs, looked at before it is
 * recorded. */
#include "cli/record/code.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/child.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/files/path.h"
#include "symbolize/cfi/cfi.h"
#include "stitch/tasks/frame.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/identity.h"

/* One function in twenty may lack a frame pointer: assembly and the like. */
#define FRAMES_OF 20
#define SCRIPTS_MAX 4 /* of which each is the interpreter of the last */
#define LISTED 65536  /* bytes of what the loader, or a line of maps, says */

/* ---- a file */

static void code_add(struct record_code *c, const char *path, const char *name)
{
	struct elf_section s;
	struct elf_file *ef = elf_file_open(path, NULL);
	struct frame_share share;
	struct cfi *cfi;

	if (!ef)
		return;
	c->go |= elf_section_find(ef, ".gopclntab", &s) ||
		 elf_section_find(ef, ".data.rel.ro.gopclntab", &s);
	cfi = cfi_open_both(ef);
	frame_share_count(ef, cfi, NULL, &share);
	cfi_close(cfi);
	elf_file_close(ef);
	if (!share.functions)
		return;
	if (!c->files++ || (uint64_t)share.set * c->worst.functions <
				   (uint64_t)c->worst.set * share.functions) {
		c->worst = share;
		snprintf(c->worst_path, sizeof(c->worst_path), "%s", name);
	}
}

static const struct code_runtime runtimes[] = {
	/* since 3.12 */
	{ "CPython", "@(lib|)python3.*", "PYTHONPERFSUPPORT", "1", 0 },
	{ "Node", "@(node|nodejs|libnode.so*)", "NODE_OPTIONS",
	  "--perf-basic-prof", 0 },
	/* since JDK 17; of compiled code only frame pointers tell the caller.
	 * 14 % of the stacks of a program ended with 16 kB, none with 32 */
	{ "Java", "@(java|libjvm.so)", "JAVA_TOOL_OPTIONS",
	  "-XX:+IgnoreUnrecognizedVMOptions -XX:+PreserveFramePointer "
	  "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit",
	  32768 },
	{ ".NET", "@(dotnet|libcoreclr.so)", "DOTNET_PerfMapEnabled", "1", 0 },
	{ "Ruby", "@(ruby|ruby[0-9]*|libruby-*)", NULL, NULL, 0 },
	{ "Perl", "@(perl|libperl.so*)", NULL, NULL, 0 },
	{ "PHP", "@(php|php[0-9]*|libphp[0-9]*)", NULL, NULL, 0 },
};

/* Takes the runtime from the name of a program or library. */
static void code_name(struct record_code *c, const char *path)
{
	const char *base = path_base(path);

	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++)
		if (!fnmatch(runtimes[i].files, base, FNM_EXTMATCH))
			c->runtime = &runtimes[i];
	if (c->runtime == runtimes)
		sscanf(base, "%*[libpython]3.%u", &c->minor);
}

bool code_has_frames(const struct record_code *c)
{
	/* Go's functions set frame pointers, but for assembly and parts of
	 * prologues: 57 % of the stacks of a Go 1.19 program are whole along
	 * them, and 80 % by its unwind tables, which go with 'strip'. */
	if (c->go)
		return !c->files;
	return c->files && c->worst.functions - c->worst.set <=
				   c->worst.functions / FRAMES_OF;
}

/* ---- a program */

/* Replaces the path of a script by that of its interpreter, of "#!/usr/bin/env
 * [-S] NAME" by that of NAME. Returns false if it is no script. */
static bool code_interpreter(char path[PATH_MAX])
{
	char line[256], *word, *save;
	FILE *f = fopen(path, "re");
	bool is = f && fgets(line, sizeof(line), f) && !strncmp(line, "#!", 2);

	if (f)
		fclose(f);
	if (!is)
		return false;
	word = strtok_r(line + 2, " \t\n", &save);
	if (word && !strcmp(path_base(word), "env")) {
		do
			word = strtok_r(NULL, " \t\n", &save);
		while (word && (*word == '-' || strchr(word, '=')));
	}
	return word && child_find(word, strlen(word), path);
}

/* Counts the libraries that the loader would map: "NAME => PATH (0xADDRESS)".
 * It runs nothing of the program. */
static void code_add_needed(struct record_code *c, const char *interp)
{
	static char text[LISTED];
	const char *const argv[] = { interp, "--list", c->path, NULL };
	char *save, *path;

	if (child_ask(argv, text, sizeof(text)))
		return;
	for (char *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!(path = strstr(line, " => /")))
			continue;
		path[strcspn(path, "(") - 1] = '\0';
		code_name(c, path + 4);
		code_add(c, path + 4, path + 4);
	}
}

int code_of_program(const char *name, struct record_code *out, struct err *err)
{
	char interp[PATH_MAX] = "";
	char real[PATH_MAX];
	struct elf_section s;
	struct elf_file *ef;

	*out = (struct record_code){ .files = 0 };
	if (!child_find(name, strlen(name), out->path)) {
		err_set(err, ERR_IO, "%s: no such program, or no right to it",
			name);
		/* a name without '/' is not one of this folder */
		return strchr(name, '/') && !access(name, F_OK) ? 126 : 127;
	}
	for (int i = 0; i < SCRIPTS_MAX && code_interpreter(out->path); i++)
		;
	if (realpath(out->path, real))
		snprintf(out->path, sizeof(out->path), "%s", real);
	ef = elf_file_open(out->path, NULL);
	if (!ef)
		return 0;
	if (elf_section_find(ef, ".interp", &s) && s.size < sizeof(interp))
		interp[elf_read(ef, s.off, interp, (size_t)s.size)] = '\0';
	elf_file_close(ef);
	code_add(out, out->path, out->path);
	if (*interp == '/')
		code_add_needed(out, interp);
	code_name(out, out->path);
	return 0;
}

/* ---- a process */

/* Where the process sees the file that is now at the path of a mapping. */
static void code_path_of(long pid, const char *file, char out[PATH_MAX + 64])
{
	snprintf(out, PATH_MAX + 64, "/proc/%ld/root%s", pid, file);
}

/* Notes a mapping whose file is not the one at its path. What has never been a
 * program, as memory that is mapped as a file or a device, is no file at its
 * path; of what may not be read nothing is known. */
static bool code_take_replaced(struct record_code *c, long pid,
			       const struct image *img, const char *kept)
{
	char path[PATH_MAX + 64], file[PATH_MAX];
	struct image now = *img;
	struct stat st;
	size_t len;
	bool gone = identity_is_deleted(img->path, &len);

	snprintf(file, sizeof(file), "%.*s", (int)len, img->path);
	code_path_of(pid, file, path);
	now.path = path;
	if (access(path, R_OK) || stat(path, &st) || !S_ISREG(st.st_mode) ||
	    (!gone && identity_may_be_mapped(&now)))
		return false;
	if (!c->n_replaced++) {
		memcpy(c->replaced, file, len + 1);
		snprintf(c->kept, sizeof(c->kept), "%s", kept);
	}
	return true;
}

int code_of_process(long pid, struct record_code *out, struct err *err)
{
	char name[64], line[PATH_MAX + 128], file[PATH_MAX];
	char path[PATH_MAX + 64], exec;
	unsigned long from, to;
	struct image img = { .kind = IMAGE_FILE, .path = file };
	ssize_t n;
	FILE *f;

	*out = (struct record_code){ .files = 0 };
	snprintf(name, sizeof(name), "/proc/%ld/maps", pid);
	f = fopen(name, "re");
	if (!f && errno == ENOENT)
		return err_set(err, ERR_IO, "%ld: no such process", pid);
	snprintf(name, sizeof(name), "/proc/%ld/exe", pid);
	n = readlink(name, out->path, sizeof(out->path) - 1);
	out->path[n > 0 ? n : 0] = '\0';
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line,
			   "%lx-%lx %*2c%c%*s %*s %x:%x %" SCNu64 " %4095[^\n]",
			   &from, &to, &exec, &img.maj, &img.min, &img.ino,
			   file) != 7 ||
		    exec != 'x' || *file != '/')
			continue;
		/* the process may see other files: a container */
		code_path_of(pid, file, path);
		snprintf(name, sizeof(name), "/proc/%ld/map_files/%lx-%lx", pid,
			 from, to);
		if (code_take_replaced(out, pid, &img, name))
			snprintf(path, sizeof(path), "%s", name);
		/* the loader runs before the program does */
		if (strncmp(path_base(file), "ld-", 3) != 0)
			code_add(out, path, file);
		code_name(out, file);
	}
	if (f)
		fclose(f);
	return 0;
}
