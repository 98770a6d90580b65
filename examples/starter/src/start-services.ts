// The services in a process of their own, beside `npm start`.

import { services } from './services.ts'

services.listen(3001, '127.0.0.1', () => console.log('The services listen at http://127.0.0.1:3001'))
