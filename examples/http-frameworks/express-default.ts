/** The app of `express.ts` for workers: `clustered-server express-default.ts`. */
export { app as default } from './express-app.ts'
