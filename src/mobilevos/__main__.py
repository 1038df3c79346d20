from mobilevos.cli import main

main()
