/* account.h - what a capture lost, where and when, with each drop counted
 * once. Facts: backstitch-formats(5), "Loss records".
 *
 * Call order: account_source before the first record of a source,
 * account_record for every record in time order, account_end once, before
 * anything that was left open is explained by losses. A CPU may have several
 * rings (record.ring), each with losses of its own.
 *
 * Each finding is a LEDGER_LOSS entry; those that can explain a missing
 * record are also in struct losses. Kinds (ledger_entry.what), and whether
 * they add to the number of records lost (ledger_entry.counts):
 *   lost         a LOST record: after the last record of that ring, up to it
 *   lost_end     yes: the ring's LOST_SAMPLES less its LOST: after the last
 *                LOST, so from the ring's last record to the end
 *   lost_total   no: LOST_SAMPLES, the recorder's own count per event
 *   read_lost    no: a count inside samples grew (PERF_FORMAT_LOST): between
 *                two samples that read it
 *   hardware     yes: LOST_SAMPLES with a time, the hardware's own
 *   filtered     no: dropped by a filter on purpose; explains nothing
 *   throttled    no, unknown how many: the kernel stopped the event
 *   aux          no: AUX data truncated, collided or partial
 *   overwritten  no, unknown how many: before the first record of a ring
 *                that overwrites its oldest; yes: how many in all rings,
 *                where the recorder says so
 *   damage       no: a part of the file that could not be read */
#ifndef STITCH_AUDIT_ACCOUNT_H
#define STITCH_AUDIT_ACCOUNT_H
#include <stdint.h>

struct account;
struct ledger;
struct losses;
struct record;
struct source;

struct account *account_new(struct ledger *lg, struct losses *ls);
void account_free(struct account *ac);
void account_source(struct account *ac, uint16_t index,
		    const struct source *src);
void account_record(struct account *ac, const struct record *rec);
void account_end(struct account *ac);
#endif
