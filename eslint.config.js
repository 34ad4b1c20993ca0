// The rules that need types. Everything else is Biome's.
import tseslint from 'typescript-eslint';

const typed = {
  files: ['**/*.ts'],
  languageOptions: {
    parser: tseslint.parser,
    parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
  },
  plugins: { '@typescript-eslint': tseslint.plugin },
  rules: {
    '@typescript-eslint/no-floating-promises': 'error',
    '@typescript-eslint/no-misused-promises': 'error',
    '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    '@typescript-eslint/only-throw-error': 'error',
    '@typescript-eslint/no-unnecessary-condition': 'error',
    '@typescript-eslint/await-thenable': 'error',
  },
};

// tap awaits what t.test returns.
const tests = {
  files: ['test/**/*.test.ts'],
  rules: { '@typescript-eslint/no-floating-promises': 'off' },
};

export default [{ ignores: ['**/node_modules/**', '**/dist/**', '**/.types/**', '**/.tests/**', '**/.tap/**', '**/data/**'] }, typed, tests];
