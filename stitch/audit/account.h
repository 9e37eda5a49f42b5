/* account.h - counts each lost record of a capture once, with place and time.
 *
 * See backstitch-formats(5), "Loss records". Call order: account_source()
 * before the first record of a source, account_record() for every record in
 * time order, account_end() once, before anything is explained by losses. A CPU
 * may have several rings (record.ring), each with its own losses.
 *
 * Each finding is a LEDGER_LOSS entry; those that can explain a missing record
 * are also in struct losses. Kinds (ledger_entry.what), and whether they add to
 * the number of lost records (ledger_entry.counts):
 *   lost         yes: a LOST record: between its neighbours in the ring; one
 *                without a number does not if the recorder's sum has it: then
 *                another row has the number
 *   lost_end     yes: LOST_SAMPLES minus LOST of the ring: from the ring's last
 *                record to the end
 *   dropped      yes: the recorder's count of a ring that was full, which no
 *                record reports: somewhere in it
 *   not_here     yes: the ring had them, and the capture has no page with them
 *   lost_total   no: LOST_SAMPLES, the recorder's count for each event
 *   read_lost    no: a count inside samples grew (PERF_FORMAT_LOST): between
 *                two samples
 *   hardware     yes: LOST_SAMPLES with a time, dropped by the processor
 *   filtered     no: dropped by a filter on purpose; explains nothing
 *   throttled    no, number unknown: the kernel throttled the event
 *   aux          no: AUX data truncated, collided or partial
 *   overwritten  no, number unknown: before the first record of a ring that
 *   overwrites its oldest records, or where a LOST record says so; yes: the
 *   number in all rings, if the recorder reports it
 *   damage       no: a part of the file could not be read */
#pragma once
#include <stdbool.h>
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
/* Returns whether a loss of this kind can explain a missing record. */
bool account_explains(const char *what);
