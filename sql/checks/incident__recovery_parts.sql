-- check: incident
-- severity: fail
-- says: recovery is not the sum of waiting, retries and the start that came back
SELECT
    run,
    incident_id,
    recovery_us,
    replacement_us,
    retries_us,
    first_step_at - launch_from_at AS start_us
FROM incident
WHERE recovery_us <> replacement_us + retries_us + (first_step_at - launch_from_at)
