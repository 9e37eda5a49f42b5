/* rules_sched.h - rules about who runs on a CPU, who sleeps and who is woken.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct audit;
struct audit_in;
struct fact_finding;

/* fn and holds, as in rule.h, of switch_broken, and of wakeup_order and
 * wakeup_lost. */
void rule_switch(struct audit *au, const struct audit_in *in);
bool rule_switch_holds(struct audit *au, const struct fact_finding *f,
		       uint64_t key);
void rule_wakeup(struct audit *au, const struct audit_in *in);
bool rule_wakeup_holds(struct audit *au, const struct fact_finding *f,
		       uint64_t key);
/* Call it before findings are output. */
void rule_sched_end(struct audit *au);
void rule_sched_release(struct audit *au);
