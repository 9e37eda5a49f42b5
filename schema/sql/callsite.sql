-- callsite.sql - before the call-site check: forgets what an earlier one found.
DELETE FROM callsite;
DELETE FROM callsite_link;
DELETE FROM stack_check;
