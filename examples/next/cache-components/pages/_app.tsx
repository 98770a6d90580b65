export { default } from '../../web/pages/_app'
