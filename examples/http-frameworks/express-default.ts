/** The app of `express.ts`, for whoever runs it in workers: `clustered-server express-default.ts`. */
export { app as default } from './express-app.ts'
