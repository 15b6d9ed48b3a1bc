print("dock")
