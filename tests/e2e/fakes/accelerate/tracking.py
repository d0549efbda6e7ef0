class GeneralTracker:
    main_process_only = True
