/** Whether this machine does nothing else: then times are held against the goals, and elsewhere against more than those. */
export const isQuiet = process.env['QUIET_MACHINE'] === 'true'
