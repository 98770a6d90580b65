import faults from './faults.ts'

// It knows of no one who would have it listen.
faults().listen(Number(process.env['PORT']), '127.0.0.1')
