-- callsite.sql - deletes the results of an earlier call-site check.
DELETE FROM callsite;
DELETE FROM callsite_link;
DELETE FROM stack_check;
DELETE FROM other_file;
DELETE FROM user_trust;
