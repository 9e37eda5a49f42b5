/* maps.h - saved copies of /proc/PID/maps: what processes had mapped, beside a
 * capture that does not say it.
 *
 * A copy may have the time at which it was made, in seconds on the capture's
 * clock: then it holds from that time on, else from the start. In a folder
 * the names tell: PID.maps, PID@SECONDS.maps, also with a word and a dot in
 * front. Lines that cannot be read are damage in the ledger. */
#ifndef FORMATS_CODE_MAPS_H
#define FORMATS_CODE_MAPS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct ledger;
struct maps;
struct snapshot;

struct maps *maps_new(void);
void maps_free(struct maps *m);
/* time: ns; TIME_NONE: not known. -1 and *err: it cannot be read, or has no
 * such line. capture: whose ledger entries these are. */
int maps_file(struct maps *m, const char *path, int32_t pid, int64_t time,
	      struct ledger *lg, uint16_t capture, struct err *err);
/* All such files in a folder: how many, or -1 and *err. */
int maps_folder(struct maps *m, const char *path, struct ledger *lg,
		uint16_t capture, struct err *err);
/* Are there such files in it? */
bool maps_in_folder(const char *path);
/* The lists, which hold until maps_free(). */
const struct snapshot *maps_list(struct maps *m, size_t *n);
/* "PID=FILE", "PID=FILE@SECONDS", or the name of a folder: as above. */
int maps_option(struct maps *m, const char *word, struct ledger *lg,
		uint16_t capture, struct err *err);
/* Text in memory, as a file: for tests. How many mappings. */
size_t maps_text(struct maps *m, const char *text, size_t len, const char *path,
		 int32_t pid, int64_t time, struct ledger *lg,
		 uint16_t capture);
#endif
